/* Tasks of the unprotected build. */
#include "peer.h"

__attribute__((section(".shared"))) struct shared shared;
const uint32_t peer_tasks_privileged = 1;

static StaticTask_t controls[TASKS];
__attribute__((section(".stacks"))) static StackType_t stacks[TASKS][STACK_WORDS];
static unsigned made;

void peer_task(TaskFunction_t entry, unsigned priority, int privileged) {
    (void)privileged;
    if (xTaskCreateStatic(entry, "task", STACK_WORDS, NULL, priority, stacks[made], &controls[made]) == NULL)
        peer_exit(4);
    made++;
}
