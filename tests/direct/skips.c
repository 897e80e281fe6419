/* The inner handler interrupts the outer one in the way into the kernel, and returns past it: to the Non-secure code of
 * the outer one, by a frame of its own making. What lies on the kernel's stack stays there. The first handler comes
 * over a thread or the kernel, and pends the outer one, which goes on until the stack is full, or in the first rounds
 * of a life returns before. Exit codes: 1 for what the manifest lacks; 2 if a call failed. */
#include "devices.h"

enum { ROUNDS = 400, RETURNS = 6, TICKS_OF_2_MS = 40000, UART1_TX = 51 };

COF_ENTRY void outer(void);
COF_ENTRY void inner(void);
__asm__(".syntax unified\n"
        ".section .cofferdam.entry, \"ax\", %progbits\n"
        ".balign 4\n"
        /* The timer comes in r1 ticks. Clobbers r0, r2. */
        ".global arm\n    .type arm, %function\n    .thumb_func\n"
        "arm:\n"
        "    ldr     r0, =timer\n    ldr     r0, [r0]\n"
        "    movs    r2, #0\n    str     r2, [r0]\n"
        "    movs    r2, #1\n    str     r2, [r0, #12]\n"
        "    str     r1, [r0, #4]\n"
        "    movs    r2, #9\n    str     r2, [r0]\n"
        "    bx      lr\n"
        "    .ltorg\n    .size arm, . - arm\n"
        "    .global outer\n    .type outer, %function\n    .thumb_func\n"
        "outer:\n"
        "    push    {r4, lr}\n"
        "    ldr     r0, =uart\n    ldr     r0, [r0]\n    movs    r1, #1\n    str     r1, [r0, #12]\n"
        "    ldr     r0, =is_in\n    str     r1, [r0]\n"
        /* What an exception from Secure code finds in r4 is 0. */
        "again:\n"
        "    ldr     r4, =cof_wake_address\n    ldr     r4, [r4]\n    orr     r4, #1\n"
        "    ldr     r0, =tries\n    ldr     r1, [r0]\n    adds    r1, #1\n    str     r1, [r0]\n"
        "    ldr     r0, =most\n    ldr     r0, [r0]\n    cmp     r1, r0\n    bhs     4f\n"
        "    and     r1, r1, #7\n    adds    r1, #4\n"
        "    bl      arm\n"
        "1:  blx     r4\n    b       1b\n"
        "4:  ldr     r0, =timer\n    ldr     r0, [r0]\n    movs    r2, #0\n    str     r2, [r0]\n"
        "    pop     {r4, pc}\n"
        "    .ltorg\n    .size outer, . - outer\n"
        "    .global inner\n    .type inner, %function\n    .thumb_func\n"
        "inner:\n"
        "    ldr     r0, =timer\n    ldr     r0, [r0]\n"
        "    movs    r2, #0\n    str     r2, [r0]\n    movs    r2, #1\n    str     r2, [r0, #12]\n"
        "    ldr     r0, =is_in\n    ldr     r0, [r0]\n    cbnz    r0, 2f\n"
        "    ldr     r0, =uart\n    ldr     r0, [r0]\n    movs    r1, #'.'\n    str     r1, [r0]\n"
        "    bx      lr\n"
        /* It has interrupted Secure code, which is the way in, or the loop in front of it. */
        "2:  tst     lr, #0x40\n    bne     3f\n"
        "    ldr     r1, =again\n    str     r1, [sp, #24]\n"
        "    bx      lr\n"
        "3:  sub     sp, #32\n"
        "    ldr     r1, =again\n    str     r1, [sp, #24]\n"
        "    ldr     r1, =0x01000033\n    str     r1, [sp, #28]\n"
        "    ldr     r1, =0xffffffb0\n    bx      r1\n"
        "    .ltorg\n    .size inner, . - inner\n"
        ".text\n");
_Static_assert(UART1_TX == 0x33, "the outer handler's exception in the forged status");

volatile uint32_t *timer, *uart;
volatile uint32_t is_in, tries, most;

int main(void) {
    timer = registers_of("timer1");
    uart = sender();
    if (timer == 0 || uart == 0)
        return 1;
    uint32_t kind = COF_KIND_INTERRUPT;
    if (cof_interrupt_ack(cof_cap("inner", kind)) != 0 || cof_interrupt_ack(cof_cap("outer", kind)) != 0)
        return 2;
    uint64_t next = cof_time_now();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        is_in = 0;
        tries = round;
        most = round < RETURNS ? tries + 10 : UINT32_MAX;
        timer[1] = 20000 + (uint32_t)(next >> 3) % 1009;
        timer[0] = 9;
        next += TICKS_OF_2_MS;
        if (cof_sleep_until(next) != 0)
            return 2;
    }
    return 0;
}
