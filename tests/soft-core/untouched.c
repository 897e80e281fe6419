/* Hands pages that it has never touched to services: with HONEST as the library does, otherwise as a program that would
 * have the services pay for the clearing of frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cofferdam.h"

enum { PAGE = 4096, TEXT = 64, TRIES = 3 };

static uint32_t copy, memory, console;

/* An address in the middle of a fresh block, just before a page: nothing there was touched. */
static uint8_t *fresh(void) {
    uintptr_t block = (uintptr_t)malloc(5 * PAGE);
    return block ? (uint8_t *)((block + 2 * PAGE - 1) / PAGE * PAGE + PAGE - TEXT / 2) : 0;
}

#ifdef HONEST
/* Every call does what it would with other memory. */
int main(void) {
    unsigned wrong = 0;
    copy = cof_cap("copy", COF_KIND_GATE);
    memory = cof_cap("memory", COF_KIND_GATE);
    console = cof_cap("console", COF_KIND_GATE);
    for (unsigned round = 0; round < 4; round++) {
        uint8_t *to = fresh(), *from = fresh();
        uint32_t value = 0;
        wrong += cof_gate_call(copy, (uint32_t)(uintptr_t)to, 0, 0, &value) != 0 || value != TEXT;
        for (unsigned at = 0; at < TEXT; at++)
            wrong += to[at] != (uint8_t)(at + 1);
        /* Text of zeros from both of its pages, and a message of zeros, which is no request. */
        wrong += cof_gate_call(console, (uint32_t)(uintptr_t)from, TEXT, 0, &value) != 0 || value != TEXT;
        wrong += cof_gate_call(memory, (uint32_t)(uintptr_t)fresh(), 0, 0, &value) != COF_E_BAD_ARGUMENT;
    }
    cof_mark(3, wrong);
    printf("honest: %u wrong\n", wrong);
    cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 20);
    return wrong != 0;
}
#else
/* Each call of each service is refused, at once and for ever, and names a page of this domain. */
static unsigned insists(uint32_t gate, uint32_t bytes) {
    unsigned wrong = 0;
    uint8_t *at = fresh();
    for (unsigned tries = 0; tries < TRIES; tries++) {
        struct cof_result told = cof_call(COF_CALL_GATE_CALL, gate, (uint32_t)(uintptr_t)at, bytes, 0);
        wrong += told.status != COF_E_UNTOUCHED || told.first != (uint32_t)(uintptr_t)at;
    }
    at[0] = 1;
    struct cof_result second = cof_call(COF_CALL_GATE_CALL, gate, (uint32_t)(uintptr_t)at, bytes, 0);
    wrong += second.status != COF_E_UNTOUCHED || second.first / PAGE != (uint32_t)(uintptr_t)at / PAGE + 1;
    return wrong;
}

int main(void) {
    unsigned wrong = 0;
    for (unsigned round = 0; round < 3; round++)
        wrong += insists(cof_cap("copy", COF_KIND_GATE), 0) + insists(cof_cap("console", COF_KIND_GATE), TEXT) +
                 insists(cof_cap("memory", COF_KIND_GATE), 0);
    cof_mark(3, wrong);
    return wrong != 0;
}
#endif
