/* Each build of this file does one thing that a domain may not do, in a function that is called from `main`. */
#include <cofferdam.h>
#include <stdint.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline, noclone)) static
static volatile uint32_t kept;

#if defined(NULL_POINTER)
FUNCTION void deep(volatile uint32_t *to) {
    *to = 1;
    kept = 2;
}
FUNCTION void way(void) {
    deep((volatile uint32_t *)kept);
    kept = 3;
}
#elif defined(READ_ONLY)
static const uint32_t constant[4] = {1, 2, 3, 4};
FUNCTION void way(void) {
    *(volatile uint32_t *)&constant[kept] = 5;
    kept = 3;
}
#elif defined(NOT_EXECUTABLE)
static uint16_t code[2] = {0x4770, 0x4770};
FUNCTION void way(void) {
    ((void (*)(void))((uintptr_t)code | 1))();
    kept = 3;
}
#elif defined(NULL_CALL)
FUNCTION void way(void) {
    ((void (*)(void))kept)();
    kept = 3;
}
#elif defined(TRAP)
FUNCTION void way(void) {
    if (kept == 0)
        __builtin_trap();
    kept = 3;
}
#elif defined(PRIVILEGED)
FUNCTION void way(void) {
#ifdef __riscv
    __asm__ volatile("mret");
#else
    __asm__ volatile("mcr p15, 0, %0, c1, c0, 0" ::"r"(kept));
#endif
    kept = 3;
}
#elif defined(UNALIGNED)
FUNCTION void way(void) {
    static uint32_t words[4];
#ifdef __riscv
    __asm__ volatile(".option arch, +a\n amoswap.w zero, zero, (%0)" ::"r"((char *)words + 2) : "memory");
#else
    __asm__ volatile("ldm %0, {r2, r3}" ::"r"((char *)words + 2) : "r2", "r3");
#endif
    kept = 3;
}
#elif defined(OVERFLOW)
FUNCTION uint32_t recurse(uint32_t depth) {
    volatile uint32_t frame[14];
    frame[depth % 14] = depth;
    return recurse(depth + 1) + frame[kept];
}
FUNCTION void way(void) {
    kept = recurse(0);
}
#elif defined(OWNER)
/* Tells another domain where a variable of its own is, and ends with a code. */
FUNCTION void way(void) {
    struct cof_area box;
    if (cof_area("box", &box) == 0)
        *(volatile uint32_t *)box.base = (uint32_t)(uintptr_t)&kept;
    exit(3);
}
#elif defined(PEEK)
FUNCTION void way(void) {
    struct cof_area box;
    if (cof_area("box", &box) == 0)
        kept = **(volatile uint32_t *volatile *)box.base;
}
#elif defined(HOSTILE)
/* A stack whose every word says that `way` was called from itself. */
FUNCTION void way(void) {
    static uint32_t stack[256];
    for (uint32_t at = 0; at < 256; at++)
        stack[at] = (uint32_t)(uintptr_t)__builtin_return_address(0);
#ifdef __riscv
    __asm__ volatile("mv s0, %0\n mv sp, %0\n sw s0, 0(%1)" ::"r"(&stack[8]), "r"(0) : "s0");
#else
    __asm__ volatile("mov r7, %0\n mov r11, %0\n mov sp, %0\n str r7, [%1]" ::"r"(&stack[8]), "r"(0) : "r7", "r11");
#endif
    kept = 3;
}
#endif

int main(void) {
    way();
    return kept == 77 ? 1 : 0;
}
