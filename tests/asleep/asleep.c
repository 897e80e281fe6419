/* Executes every instruction that an unprivileged program can execute to wait, and that the processor neither traps nor
 * has to obey, between computations of about a millisecond. On RISC-V the first one is illegal for it. */
#include <cofferdam.h>
#include <stdint.h>

static void computes(void) {
    for (volatile uint32_t n = 0; n < 2000; n++) {
    }
}

int main(void) {
    for (int i = 0; i < 20; i++) {
#if defined(__riscv)
        /* FENCE.I and PAUSE, as words: the assembler is told of neither extension. */
        __asm__ volatile(".4byte 0x0000100f\n.4byte 0x0100000f");
        computes();
        __asm__ volatile("wfi");
#else
        __asm__ volatile("sev\nyield\nnop\nwfe\nwfe");
        computes();
        __asm__ volatile("wfi");
#endif
        computes();
    }
    return 0;
}
