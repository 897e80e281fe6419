/* How a domain enters the kernel on Armv7: number in r12, arguments in r0-r3; status in r0, values in r1 and r2. */
#ifndef COFFERDAM_ARCH_H
#define COFFERDAM_ARCH_H

#include <stdint.h>

/* No page is mapped at its first touch. */
#define COF_DEMAND 0

/* The result of a system call. */
struct cof_result {
    int32_t status; /* 0 or one of COF_E_... */
    uint32_t first; /* values, as far as the call has any */
    uint32_t second;
};

static inline struct cof_result cof_call(uint32_t number, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3) {
    register uint32_t r0 __asm__("r0") = a0;
    register uint32_t r1 __asm__("r1") = a1;
    register uint32_t r2 __asm__("r2") = a2;
    register uint32_t r3 __asm__("r3") = a3;
    register uint32_t r12 __asm__("r12") = number;
    __asm__ volatile("svc #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r12) : : "memory", "cc");
    return (struct cof_result){(int32_t)r0, r1, r2};
}

#endif
