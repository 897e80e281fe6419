/* The code of the tasks. All of it is unprivileged. */
#include "example.h"

static uint32_t expected(uint32_t round, uint32_t buffer, uint32_t word) {
    return (round << 24) ^ (buffer << 16) ^ word;
}

static uint32_t sum_of_first(uint32_t round) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < BUFFERS; i++)
        sum += expected(round, i, 0);
    return sum;
}

static void fill(struct worker *me, uint32_t round) {
    for (uint32_t i = 0; i < BUFFERS; i++)
        for (uint32_t word = 0; word < me->words[i]; word++)
            me->at[i][word] = expected(round, i, word);
}

static void check(struct worker *me, uint32_t round) {
    for (uint32_t i = 0; i < BUFFERS; i++)
        for (uint32_t word = 0; word < me->words[i]; word++)
            me->errors += me->at[i][word] != expected(round, i, word);
}

/* Two buffers at a time, word by word: they need two regions beside each other. */
static void swap(struct worker *me, uint32_t one, uint32_t other) {
    const uint32_t words = me->words[one] < me->words[other] ? me->words[one] : me->words[other];
    for (uint32_t word = 0; word < words; word++) {
        const uint32_t kept = me->at[one][word];
        me->at[one][word] = me->at[other][word];
        me->at[other][word] = kept;
    }
}

/* The first word of each buffer: always a miss, at one instruction. */
__attribute__((noinline, noclone)) static uint32_t touch(const struct worker *me) {
    uint32_t sum = 0, word;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        __asm volatile("ldr %0, [%1]\n.global probe_miss_end\nprobe_miss_end:"
                       : "=r"(word)
                       : "r"(me->at[i])
                       : "memory");
        sum += word;
    }
    return sum;
}

void worker_task(void *argument) {
    struct worker *const me = argument;
    for (;;) {
        for (uint32_t round = 0; round < ROUNDS; round++) {
            fill(me, round);
            for (uint32_t i = 0; i < BUFFERS; i++) {
                swap(me, i, (i * 7 + 1) % BUFFERS);
                taskYIELD(); /* the other worker goes on, with other regions */
            }
            for (uint32_t i = BUFFERS; i-- > 0;)
                swap(me, i, (i * 7 + 1) % BUFFERS);
            check(me, round);
            me->errors += touch(me) != sum_of_first(round);
            me->rounds++;
        }
        vTaskSuspend(NULL);
    }
}

/* Preempts whoever runs, and never waits for a region. */
void deadline_task(void *argument) {
    struct deadline *const me = argument;
    TickType_t last = 0;
    for (;;) {
        for (uint32_t i = 0; i < 64; i++)
            me->state[i] = me->state[i] * 5 + i;
        if (++me->activations == ACTIVATIONS)
            vTaskSuspend(NULL);
        vTaskDelayUntil(&last, 1);
    }
}

static int still_holds(const struct heap_user *me, uint32_t slot) {
    for (uint32_t i = 0; i < me->bytes[slot]; i++)
        if (me->block[slot][i] != (uint8_t)(slot + 1))
            return 0;
    return 1;
}

static void heap_step(struct heap_user *me, uint32_t slot, uint32_t bytes) {
    if (me->block[slot] != NULL) {
        me->errors += !still_holds(me, slot);
        me->errors += cfm_heap_free(&me->heap, me->block[slot]) != CFM_OK;
        me->block[slot] = NULL;
        return;
    }
    me->bytes[slot] = bytes;
    me->errors += cfm_heap_alloc(&me->heap, bytes, 8, &me->block[slot]) != CFM_OK;
    for (uint32_t i = 0; i < bytes && me->block[slot] != NULL; i++)
        me->block[slot][i] = (uint8_t)(slot + 1);
}

/* A heap of the task's own, over pieces that lie apart. Nobody else can reach it, and it needs no system call. */
void heap_task(void *argument) {
    struct heap_user *const me = argument;
    uint32_t state = 1;
    me->status = (uint32_t)cfm_heap_init(&me->heap);
    if (me->status == CFM_OK)
        me->status = (uint32_t)cfm_heap_add_records(&me->heap, me->piece[0], HEAP_RECORDS);
    for (uint32_t i = 0, taken = HEAP_RECORDS; i < HEAP_PIECES && me->status == CFM_OK; i++, taken = 0)
        me->status = (uint32_t)cfm_heap_add(&me->heap, me->piece[i] + taken, me->piece_bytes - taken);
    for (; me->status == CFM_OK && me->operations < HEAP_OPERATIONS; me->operations++) {
        state = state * 1664525u + 1013904223u;
        heap_step(me, state >> 28, HEAP_LARGEST / 2 + (state >> 8) % (HEAP_LARGEST / 2 + 1));
    }
    for (;;)
        vTaskSuspend(NULL);
}

static void read_foreign(void *argument) {
    struct intrusion *const me = argument;
    me->reached = *(volatile uint32_t *)me->target + 1;
}

static void write_read_only(void *argument) {
    struct intrusion *const me = argument;
    *(volatile uint32_t *)(uintptr_t)me->own = me->own[0] + 1; /* the read is permitted */
    me->reached = 1;
}

static void write_kernel(void *argument) {
    struct intrusion *const me = argument;
    *(volatile uint32_t *)me->target = 0;
    me->reached = 1;
}

static void lose_stack(void *argument) {
    struct intrusion *const me = argument;
    __asm volatile("mov sp, %0\nsvc 101" : : "r"(me->target) : "memory"); /* a yield, which needs a stack */
    me->reached = 1;
}

static void execute_data(void *argument) {
    struct intrusion *const me = argument;
    const uint16_t back[2] = {0x4770, 0x4770}; /* bx lr */
    ((void (*)(void))((uintptr_t)back | 1))();
    me->reached = 1;
}

void (*const intruder_task[INTRUDERS])(void *) = {read_foreign, write_read_only, write_kernel, lose_stack,
                                                  execute_data};
