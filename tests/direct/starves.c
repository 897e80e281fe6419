/* SVC of the handlers' state gets the kernel's own priority, with a smaller number than PendSV, and returns into Thread
 * mode of that state while PendSV waits. The line's handler pends it again whenever it comes, above the kernel as well.
 */
#include "devices.h"

enum { APART_TICKS = 200, WORDS = 64 };

COF_ENTRY void fired(void);
volatile uint32_t *timer;
volatile uint32_t step;
/* Vectors of its own. */
__attribute__((aligned(256))) volatile uint32_t table[WORDS];

__asm__(".syntax unified\n"
        ".section .cofferdam.entry, \"ax\", %progbits\n"
        ".balign 4\n"
        ".global fired\n"
        ".type fired, %function\n"
        ".thumb_func\n"
        "fired:\n"
        "    ldr     r0, =timer\n"
        "    ldr     r0, [r0]\n"
        "    movs    r1, #1\n"
        "    str     r1, [r0, #12]\n"
        "    ldr     r2, =step\n"
        "    ldr     r1, [r2]\n"
        "    cmp     r1, #1\n"
        "    bne     9f\n"
        "    movs    r1, #2\n"
        "    str     r1, [r2]\n"
        "    ldr     r0, =table\n"
        "    ldr     r1, =returns\n"
        "    orr     r1, #1\n"
        "    str     r1, [r0, #44]\n"
        "    ldr     r1, =pends\n"
        "    orr     r1, #1\n"
        "    str     r1, [r0, #80]\n"
        "    ldr     r1, =0xe000ed08\n"
        "    str     r0, [r1]\n"
        "    mov     r2, #0xc0000000\n"
        "    str     r2, [r1, #20]\n"
        "    ldr     r2, =0x8000\n"
        "    str     r2, [r1, #28]\n"
        "    dsb\n"
        "    isb\n"
        "    mov     r5, lr\n"
        "    ldr     r4, =cof_wake_address\n"
        "    ldr     r4, [r4]\n"
        "    orr     r4, #1\n"
        "    blx     r4\n"
        "    bx      r5\n"
        "9:  bx      lr\n"
        "    .ltorg\n"
        "    .size fired, . - fired\n"
        /* These two in memory without wait states. */
        ".section .data.quick, \"aw\", %progbits\n"
        "    .balign 4\n"
        "    .thumb_func\n"
        "pends:\n"
        "    ldr     r0, =timer\n"
        "    ldr     r0, [r0]\n"
        "    movs    r1, #1\n"
        "    str     r1, [r0, #12]\n"
        "    ldr     r0, =0xe000ed24\n"
        "    mov     r1, #0x8000\n"
        "    str     r1, [r0]\n"
        "    bx      lr\n"
        "    .balign 4\n"
        "    .ltorg\n"
        "    .thumb_func\n"
        "returns:\n"
        "    mvn     r1, #0x47\n"
        "    bx      r1\n"
        "    .balign 4\n"
        ".text\n");

int main(void) {
    timer = registers_of("timer1");
    if (timer == 0)
        return 1;
    uint32_t line = cof_cap("fired", COF_KIND_INTERRUPT), events = cof_cap("events", COF_KIND_NOTIFICATION);
    timer[0] = 0;
    timer[3] = 1;
    timer[2] = timer[1] = APART_TICKS;
    for (;;) {
        if (cof_interrupt_ack(line) != 0)
            return 2;
        step = 1;
        timer[0] = 9;
        (void)cof_wait(events, 1, 0);
    }
}
