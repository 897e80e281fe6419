// Addresses of the SoC (pkg/cofferdam_pkg.sv) and its CSRs, for programs without an operating system.
#ifndef SOC_H
#define SOC_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define CONSOLE_PUT REG(0x10000000)
#define CONSOLE_MARK REG(0x10001004)
#define CONSOLE_STOP REG(0x10001008)
#define TIMER_CMP_LOW REG(0x10014000)
#define TIMER_CMP_HIGH REG(0x10014004)
#define TIMER_LOW REG(0x1001bff8)
#define MMU_CONTROL REG(0x10020000)
#define MMU_BASE REG(0x10020004)
#define MMU_PAGES_LOG2 REG(0x10020008)
#define MMU_FLUSH REG(0x1002000c)
#define MMU_KIND REG(0x10020010)
#define TABLE_A ((volatile uint32_t *)0x20000000)
#define TABLE_B ((volatile uint32_t *)0x21000000)
#define TABLE_D ((volatile uint32_t *)0x22000000)
#define TABLE_D_PAGE 0x22000u
#define DRAM 0x40000000u
#define UPPER 0x80000000u

enum { KIND_NONE, KIND_RTMMU, KIND_DIRECT, KIND_SV32 };
enum { RIGHT_R = 1, RIGHT_W = 2, RIGHT_X = 4 };
enum { CAUSE_FETCH = 1, CAUSE_LOAD = 5, CAUSE_STORE = 7, CAUSE_ECALL_U = 8, CAUSE_TIMER = (int)0x80000007 };

#define CSR_READ(name)                                                                                                 \
    ({                                                                                                                 \
        uint32_t v_;                                                                                                   \
        __asm__ volatile("csrr %0, " #name : "=r"(v_));                                                                \
        v_;                                                                                                            \
    })
#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"((uint32_t)(value)))
#define CSR_SET(name, value) __asm__ volatile("csrs " #name ", %0" ::"r"((uint32_t)(value)))
#define CSR_CLEAR(name, value) __asm__ volatile("csrc " #name ", %0" ::"r"((uint32_t)(value)))

// Registers x1 to x31 of the interrupted code, then its pc. start.S lays it out.
struct frame {
    uint32_t x[31];
    uint32_t pc;
};
enum { FRAME_RA = 0, FRAME_A0 = 9, FRAME_A1 = 10, FRAME_A7 = 16 };

#endif
