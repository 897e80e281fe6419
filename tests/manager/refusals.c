/* A hostile client that wants the memory manager to take long: it asks for what is refused, in every way that leaves
 * the manager much to look at, with no memory granted and with all of its records in use, and then for the remedies.
 * Before each request it fills the caches with its own, so that the manager finds none of its lines there. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cofferdam.h"
#include "cofferdam_memory.h"

/* The words of crates/manager/src/wire.rs: a hostile client does not ask the library. */
enum { GRANT = 1, RELEASE = 5, SCRUB = 6, EXPLAIN = 11 };
enum { GRANTED = 0, REFUSED = 1, DONE = 2 };
enum { RULE = 1, CHANGE = 4, VALUE = 5, REFUSED_OPERATION = 7 };
/* The kind of change that says that none has been looked for yet: `value` is the next step of the search. */
enum { UNKNOWN = 8, STEP_SHIFT = 16, MOST_STEPS = 64 };
enum { WORDS = 16, RECORDS = 32, LINE_BYTES = 32 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint32_t message[WORDS] __attribute__((aligned(64)));
/* More than the second-level cache of the Cortex-A9 has (512 KiB). */
static volatile uint32_t lines[160 << 10];
static uint32_t gate, refusals, remedies, steps;

/* More instructions than a first-level cache has room for. */
__attribute__((naked, noinline, aligned(32))) static void run_through_code(void) {
    __asm__ volatile(".rept 9000\n nop\n .endr\n bx lr");
}

static void spoil_caches(void) {
    for (size_t at = 0; at < COUNT(lines); at += LINE_BYTES / sizeof *lines)
        lines[at]++;
    run_through_code();
}

/* Sends the message. A manager that was stopped is the end of this program. */
static int32_t send(void) {
    spoil_caches();
    uint32_t value, asked[4];
    memcpy(asked, message, sizeof asked);
    int32_t status = cof_gate_call(gate, (uint32_t)(uintptr_t)message, 0, 0, &value);
    if (status == COF_E_GATE_OVERRUN || status == COF_E_STOPPED) {
        printf("the manager was stopped by operation %lu, specification %#lx, %lu bytes at %#lx\n",
               (unsigned long)asked[0], (unsigned long)asked[1], (unsigned long)asked[2], (unsigned long)asked[3]);
        cof_exit(1);
    }
    return status;
}

static int32_t ask(uint32_t operation, uint32_t spec, uint32_t bytes, uint32_t address) {
    memset(message, 0, sizeof message);
    message[0] = operation;
    message[1] = spec;
    message[2] = bytes;
    message[3] = address;
    return send();
}

/* Gives back and clears what was granted; nothing of it was mapped, or all of it. */
static void give_back(uint32_t base) {
    while (ask(RELEASE, 0, 0, base) == COF_E_BUSY)
        ;
    while (ask(SCRUB, 0, 0, base) == 0 && message[0] == DONE && message[1] > 0)
        ;
}

/* Asks for the remedy of a refusal, a candidate at a time. */
static void look_for_remedy(uint32_t spec, uint32_t bytes) {
    for (unsigned tries = 0; tries < MOST_STEPS && message[0] == REFUSED && message[CHANGE] == UNKNOWN; tries++) {
        uint32_t step = message[VALUE];
        memset(message, 0, sizeof message);
        message[0] = EXPLAIN;
        message[1] = spec;
        message[2] = bytes;
        message[REFUSED_OPERATION] = GRANT | step << STEP_SHIFT;
        if (send() != 0)
            return;
        steps++;
    }
    remedies += message[0] == REFUSED && message[CHANGE] != UNKNOWN;
}

static void ask_for_too_much(void) {
    static const uint32_t levels[] = {RT_DETERMINISTIC, RT_L1, RT_L2, RT_L3, RT_BEST_EFFORT};
    static const uint32_t flags[] = {
        0,
        RT_CONSTANT_TIME | RT_INDEPENDENT,
        RT_CONSTANT_TIME | RT_INDEPENDENT | RT_ALLOW_PARTIAL | RT_DATA_TCM,
        RT_CONSTANT_TIME | RT_INDEPENDENT | RT_ALLOW_PARTIAL | RT_DATA_ON_CHIP,
        RT_CONSTANT_TIME | RT_INDEPENDENT | RT_DATA_OFF_CHIP,
    };
    static const uint32_t sizes[] = {256, 64 << 10, 512 << 10, 0xfffff000};
    for (unsigned level = 0; level < COUNT(levels); level++)
        for (unsigned flag = 0; flag < COUNT(flags); flag++)
            for (unsigned size = 0; size < COUNT(sizes); size++) {
                uint32_t spec = levels[level] | flags[flag];
                if (ask(GRANT, spec, sizes[size], 0) != 0)
                    continue;
                if (message[0] == GRANTED) {
                    give_back(message[1]);
                } else {
                    refusals++;
                    look_for_remedy(spec, sizes[size]);
                }
            }
}

/* Holds memory in all of its records but one, every other one of them dirty; how many. */
static unsigned take_records(void) {
    static uint32_t held[RECORDS];
    unsigned holds = 0;
    for (; holds < RECORDS - 1; holds++) {
        uint32_t spec = holds % 3 ? RT_BEST_EFFORT : RT_L2;
        if (ask(GRANT, spec, 256u << holds % 4, 0) != 0 || message[0] != GRANTED)
            break;
        held[holds] = message[1];
    }
    for (unsigned index = 0; index < holds; index += 2)
        while (ask(RELEASE, 0, 0, held[index]) == COF_E_BUSY)
            ;
    return holds;
}

int main(void) {
    gate = cof_cap("memory", COF_KIND_GATE);
    ask_for_too_much();
    unsigned holds = take_records();
    ask_for_too_much();
    printf("%lu refusals, %lu remedies in %lu steps, %u pieces held\n", (unsigned long)refusals,
           (unsigned long)remedies, (unsigned long)steps, holds);
    return 0;
}
