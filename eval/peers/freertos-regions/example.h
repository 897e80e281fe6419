/* The tasks of the example, and what is measured and shown of them. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "board.h"
#include "regions.h"

#define BUFFERS 24u /* of each worker */
#define ROUNDS 40u
#define STACK_WORDS 256u
#define ACTIVATIONS 20u
#define HEAP_PIECES 4u
#define HEAP_OPERATIONS 3000u
#define HEAP_BLOCKS 16u
#define HEAP_RECORDS ((2u * (HEAP_BLOCKS + HEAP_PIECES) + 1u) * 24u) /* bytes at the beginning of the first piece */
#define HEAP_LARGEST 1300u

/* A worker's state in pinned memory: it must know its buffers, and nobody should wait for its
 * report. */
struct worker {
    uint32_t *at[BUFFERS];
    uint32_t words[BUFFERS];
    uint32_t rounds, errors;
};

/* The state of the task with a deadline, in pinned memory. */
struct deadline {
    uint32_t activations, state[64];
};

/* The state of the heap's task in paged memory, beside the pieces of its heap. */
struct heap_user {
    cfm_heap heap;
    uint8_t *piece[HEAP_PIECES];
    uint32_t piece_bytes;
    uint32_t operations, errors, status;
    uint8_t *block[HEAP_BLOCKS];
    uint32_t bytes[HEAP_BLOCKS];
};

/* An intruder's attempt. */
struct intrusion {
    const uint32_t *own; /* it may read this */
    uint32_t *target;
    uint32_t reached; /* the line behind the attempt */
};
enum { READ_FOREIGN, WRITE_READ_ONLY, WRITE_KERNEL, LOSE_STACK, EXECUTE_DATA, INTRUDERS };

void worker_task(void *worker);
void deadline_task(void *deadline);
void heap_task(void *heap_user);
extern void (*const intruder_task[INTRUDERS])(void *intrusion);

#endif
