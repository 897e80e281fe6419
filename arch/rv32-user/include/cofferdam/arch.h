/* How a domain enters the kernel on RV32: number in a7, arguments in a0-a3; status in a0, values in a1 and a2. */
#ifndef COFFERDAM_ARCH_H
#define COFFERDAM_ARCH_H

#include <stdint.h>

/* Domains may have pages that are mapped at their first touch. */
#define COF_DEMAND 1

/* The result of a system call. */
struct cof_result {
    int32_t status; /* 0 or one of COF_E_... */
    uint32_t first; /* values, as far as the call has any */
    uint32_t second;
};

static inline struct cof_result cof_call(uint32_t number, uint32_t arg0, uint32_t arg1, uint32_t arg2, uint32_t arg3) {
    register uint32_t a0 __asm__("a0") = arg0;
    register uint32_t a1 __asm__("a1") = arg1;
    register uint32_t a2 __asm__("a2") = arg2;
    register uint32_t a3 __asm__("a3") = arg3;
    register uint32_t a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a7) : : "memory");
    return (struct cof_result){(int32_t)a0, a1, a2};
}

#endif
