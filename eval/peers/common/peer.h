/* The functions that the two builds provide to the workloads. */
#ifndef PEER_H
#define PEER_H

#include <stdint.h>

#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"

#define ITERATIONS 1100u  /* of each workload; the first 100 warm the caches and are not counted */
#define TIMER_PERIOD 500u /* ticks of the board's timer: 20 or 25 us */
#define TASKS 12u
#define STACK_WORDS 256u

/* Shared by every task: handles, which are numbers in the protected build. One region covers it there. */
struct shared {
    QueueHandle_t request, reply;
    SemaphoreHandle_t give, own, timer, start[6], done;
    uint32_t task_privileged; /* what a measured task found */
};
#define SHARED_BYTES 128u
extern struct shared shared;

/* 1 where tasks are privileged, 0 where they must not be. */
extern const uint32_t peer_tasks_privileged;

/* Creates a task that runs `entry`: unprivileged in the protected build unless `privileged` is not 0. */
void peer_task(TaskFunction_t entry, unsigned priority, int privileged);

/* Creates every queue, semaphore and task of the workloads. */
void workloads_create(void);

/* Two words whose stores are the record of a run (crates/abi/src/trace.rs), which privileged code writes. */
extern volatile uint32_t peer_port[2];

/* Ends the run; `status` 0 means that everything ran to completion. */
_Noreturn void peer_exit(uint32_t status);

/* Says 1 when the caller runs privileged. */
int peer_privileged(void);

#endif
