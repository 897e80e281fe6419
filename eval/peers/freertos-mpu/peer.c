/* Tasks of the protected build: each may reach its own stack and the handles they share, nothing else. */
#include "peer.h"

__attribute__((section(".shared"), aligned(SHARED_BYTES))) struct shared shared;
const uint32_t peer_tasks_privileged = 0;
_Static_assert(sizeof(struct shared) <= SHARED_BYTES, "one region covers the shared handles");

PRIVILEGED_DATA static StaticTask_t controls[TASKS];
__attribute__((section(".stacks"), aligned(STACK_WORDS * 4))) static StackType_t stacks[TASKS][STACK_WORDS];
static unsigned made;

void peer_task(TaskFunction_t entry, unsigned priority, int privileged) {
    const TaskParameters_t parameters = {
        .pvTaskCode = entry,
        .pcName = "task",
        .usStackDepth = STACK_WORDS,
        .uxPriority = priority | (privileged ? portPRIVILEGE_BIT : 0),
        .puxStackBuffer = stacks[made],
        .xRegions = TASK_REGIONS,
        .pxTaskBuffer = &controls[made],
    };
    TaskHandle_t handle;
    made++;
    if (xTaskCreateRestrictedStatic(&parameters, &handle) != pdPASS)
        peer_exit(4);
}
