/* The handler sets the counter of its time ahead, and back, so that the kernel takes the thread's own time for the
 * handlers'. In one life the thread asks the kernel after both, in the next after the first alone, and in the third the
 * counter stays ahead; then it uses its budget up. Exit codes: 1 for what the manifest lacks; 2 if a call failed. */
#include "devices.h"

#define CYCCNT (*(volatile uint32_t *)0xe0001004)
enum { AHEAD = 250000, LOOPS = 60000, ROUNDS = 20, LEAST_TICKS = 1500 };
/* Kinds of lives. */
enum { ASKS_BEHIND, ASKS_AHEAD, STAYS_AHEAD, KINDS };

static volatile uint32_t *uart;
static volatile uint32_t ahead;

COF_ENTRY void moves(void) {
    uart[3] = 1;
    if (ahead)
        CYCCNT += AHEAD;
    else
        CYCCNT -= AHEAD;
}

static void move(uint32_t is_ahead) {
    ahead = is_ahead;
    uart[0] = '.';
}

int main(void) {
    uart = sender();
    if (uart == 0)
        return 1;
    if (cof_interrupt_ack(cof_cap("moves", COF_KIND_INTERRUPT)) != 0)
        return 2;
    uint32_t own = cof_cap("own", COF_KIND_BUDGET), left, next, kind = cof_restarts() % KINDS;
    for (int round = 0; round < ROUNDS; round++) {
        // At the end of its budget: a look finds the counter soon.
        while (kind == STAYS_AHEAD && cof_budget_query(own, &left, &next) == 0 && left > LEAST_TICKS)
            ;
        move(1);
        if (cof_budget_query(own, &left, &next) != 0)
            return 2;
        if (kind != STAYS_AHEAD)
            move(0);
        if (kind == ASKS_BEHIND && cof_budget_query(own, &left, &next) != 0)
            return 2;
        for (volatile uint32_t i = 0; i < LOOPS; i++)
            ;
    }
    __builtin_trap();
}
