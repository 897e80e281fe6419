/* A handler that follows a pointer to its thread's stack. The place of its fault is told by function and line. */
#include "cofferdam.h"

static volatile uint32_t *timer;
static volatile uint32_t *volatile where;

__attribute__((noinline)) static void follow(void) {
    *where = 1; /* here */
}

COF_ENTRY void fired(void) {
    timer[3] = 1;
    follow();
    cof_wake();
}

int main(void) {
    volatile uint32_t mine = 0;
    struct cof_area area;
    if (cof_area("timer1", &area) != 0)
        return 1;
    where = &mine;
    timer = (volatile uint32_t *)(uintptr_t)area.base;
    timer[2] = timer[1] = 2000;
    if (cof_interrupt_ack(cof_cap("fired", COF_KIND_INTERRUPT)) != 0)
        return 2;
    timer[0] = 9;
    return cof_wait(cof_cap("events", COF_KIND_NOTIFICATION), 1, 0);
}
