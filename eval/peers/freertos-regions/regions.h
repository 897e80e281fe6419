/* FreeRTOS-MPU tasks with more memory ranges than the protection unit has regions. FreeRTOS leaves a task three
 * regions of eight; here some are pinned, as FreeRTOS means them, and the others hold, of any number of ranges, those
 * used last.
 *
 * Take regions.c and this file into a project, add the hook of FreeRTOSConfig.h, the section `.region_tasks` of
 * regions.ld, and `regions_memory_fault` as the vector of exception 4. FreeRTOS itself stays as it is. */
#ifndef REGIONS_H
#define REGIONS_H

#include "FreeRTOS.h"
#include "task.h"

#include "cofferdam_mem.h"

#define REGIONS_NODES 12u  /* of one task's trie */
#define REGIONS_RANGES 32u /* of one task, at most */
#define REGIONS_USABLE 3u  /* regions 0 to 2 are the task's; FreeRTOS keeps the others */

/* A task. Only privileged code reaches it. */
struct region_task {
    StaticTask_t control; /* first: FreeRTOS's handle of the task is the address of all this */
    cfm_slots slots;
    cfm_trie trie;
    cfm_node nodes[REGIONS_NODES];
    cfm_regs leaves[REGIONS_RANGES];
    uint32_t stack_top;
    uint32_t misses;        /* faults that a region cured */
    uint32_t fault;         /* 0 while the task is well; otherwise CFM_UNMAPPED, CFM_PRESENT, or REGIONS_OTHER_FAULT */
    uint32_t fault_address; /* of a fault at a known address */
};
#define REGIONS_OTHER_FAULT 1000u /* no data access at a known address: a fetch, or a stack that cannot be written */

/* Places a region task in the section of region tasks. */
#define REGION_TASK __attribute__((section(".region_tasks"))) struct region_task

/* Creates a task. A range that parameters->xRegions names (in its first entries) is pinned, exactly
 * as long as it says, or refused; pxTaskBuffer is &task->control. The pinned regions, and no
 * others, may hold what is passed to FreeRTOS by address. A status of the library, CFM_REFUSED for
 * a pinned region that is not one region; CFM_ARGUMENT when FreeRTOS refuses. */
cfm_status regions_create(struct region_task *task, const TaskParameters_t *parameters, TaskHandle_t *handle);

/* Lets a task use a range, exactly, from its next fault on. Not while the task could run: before the scheduler
 * starts, or within a critical section. why may be null. */
cfm_status regions_allow(struct region_task *task, cfm_span range, uint32_t access, cfm_refusal *why);

#endif
