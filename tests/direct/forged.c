/* A thread waits with its stack pointer where a handler's frame does not fit, in each life a little further down. Its
 * handler returns to Handler mode of Secure state, where nothing was interrupted, while the thread's own fault waits:
 * that fault follows the return at once, before anything of it can fail. */
#include "devices.h"
#include "stack.h"

COF_ENTRY void fired(void);
__asm__(".syntax unified\n"
        ".section .cofferdam.entry, \"ax\", %progbits\n"
        ".balign 4\n"
        ".global fired\n    .type fired, %function\n    .thumb_func\n"
        "fired:\n"
        "    ldr     r0, =timer\n    ldr     r0, [r0]\n    movs    r1, #1\n    str     r1, [r0, #12]\n"
        "    ldr     r1, =0xfffffff0\n    bx      r1\n"
        "    .ltorg\n    .size fired, . - fired\n"
        ".text\n");

volatile uint32_t *timer;

int main(void) {
    timer = registers_of("timer1");
    if (timer == 0)
        return 1;
    if (cof_interrupt_ack(cof_cap("fired", COF_KIND_INTERRUPT)) != 0)
        return 2;
    uint32_t life = cof_restarts() % LIVES;
    timer[1] = 2000 + life * 37;
    timer[2] = 2000 + life * 37;
    timer[0] = 9;
    wait_low(life);
}
