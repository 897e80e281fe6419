/* A handler asks for its thread and returns with the EXC_RETURN of this life, one of 128. PendSV waits then and follows
 * at once, before anything is taken off a stack. With OVER a second interrupt comes while the kernel looks at what
 * follows, asks again, and returns into Thread mode of its state. The thread looks whether it finds the pattern of
 * keeps.c in its floating-point registers. */
#include "devices.h"

#ifndef OVER
#define OVER 0
#endif
enum { FOUND = 66, PATTERN = 0x5ec2e716, SOON_TICKS = 2000, LIFE_TICKS = 10000 };

COF_ENTRY void fired(void);
volatile uint32_t *timer;
volatile uint32_t step, loops, value, over = OVER;

/* The timer is quiet, its interrupt cleared. Step 1 is the first interrupt, over a thread; 2 is the one above what
 * follows; all others change nothing. */
__asm__(".syntax unified\n"
        ".section .cofferdam.entry, \"ax\", %progbits\n"
        ".balign 4\n"
        ".global fired\n"
        ".type fired, %function\n"
        ".thumb_func\n"
        "fired:\n"
        "    ldr     r0, =timer\n"
        "    ldr     r6, [r0]\n"
        "    movs    r1, #0\n"
        "    str     r1, [r6]\n"
        "    movs    r1, #1\n"
        "    str     r1, [r6, #12]\n"
        "    ldr     r4, =cof_wake_address\n"
        "    ldr     r4, [r4]\n"
        "    orr     r4, #1\n"
        "    ldr     r2, =step\n"
        "    ldr     r1, [r2]\n"
        "    cmp     r1, #2\n"
        "    beq     2f\n"
        "    cmp     r1, #1\n"
        "    bne     9f\n"
        "    tst     lr, #8\n"
        "    beq     9f\n"
        "    movs    r1, #2\n"
        "    str     r1, [r2]\n"
        "    blx     r4\n"
        "    ldr     r3, =over\n"
        "    ldr     r3, [r3]\n"
        "    cbz     r3, 1f\n"
        "    movs    r1, #220\n"
        "    str     r1, [r6, #8]\n"
        "    str     r1, [r6, #4]\n"
        "    movs    r1, #9\n"
        "    str     r1, [r6]\n"
        "    ldr     r2, =loops\n"
        "    ldr     r2, [r2]\n"
        "0:  subs    r2, #1\n"
        "    bne     0b\n"
        "1:  ldr     r3, =value\n"
        "    ldr     r3, [r3]\n"
        "    bx      r3\n"
        "2:  movs    r1, #3\n"
        "    str     r1, [r2]\n"
        "    blx     r4\n"
        "    mvn     r3, #0x47\n"
        "    bx      r3\n"
        "9:  bx      lr\n"
        "    .ltorg\n"
        "    .size fired, . - fired\n"
        ".text\n");

/* Marks what somebody else's registers have left. */
static void look(void) {
    uint32_t seen[6];
    __asm__ volatile("vmov %0, s0\n vmov %1, s1\n vmov %2, s15\n vmov %3, s16\n vmov %4, s20\n vmov %5, s31\n"
                     : "=r"(seen[0]), "=r"(seen[1]), "=r"(seen[2]), "=r"(seen[3]), "=r"(seen[4]), "=r"(seen[5]));
    for (int i = 0; i < 6; i++)
        if (seen[i] == PATTERN)
            cof_mark(FOUND, i);
}

int main(void) {
    timer = registers_of("timer1");
    if (timer == 0)
        return 1;
    uint32_t life = cof_restarts();
    timer[0] = 0;
    timer[3] = 1;
    if (cof_interrupt_ack(cof_cap("fired", COF_KIND_INTERRUPT)) != 0)
        return 2;
    value = 0xffffff80 | (life & 127);
    loops = 490 + life * 37 % 60;
    step = 1;
    timer[2] = timer[1] = SOON_TICKS;
    timer[0] = 9;
    (void)cof_sleep_until(cof_time_now() + LIFE_TICKS);
    look();
    __builtin_trap();
}
