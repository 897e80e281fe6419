/* Stores and loads over the border of two own pages that follow one another virtually and not physically: each width,
 * at each offset. */
#include <stdint.h>
#include <stdio.h>

#include "cofferdam.h"

#define AT 0x60800000u
#define PAGE 4096u

static void store(uint32_t at, int bytes, uint64_t value) {
    switch (bytes) {
    case 2:
        __asm__ volatile("strh %1, [%0]" ::"r"(at), "r"((uint32_t)value) : "memory");
        break;
    case 4:
        __asm__ volatile("str %1, [%0]" ::"r"(at), "r"((uint32_t)value) : "memory");
        break;
    default:
        __asm__ volatile("vmov d0, %Q1, %R1\n vst1.8 {d0}, [%0]" ::"r"(at), "r"(value) : "memory", "d0");
    }
}

int main(void) {
    uint32_t pool = cof_cap("pool", COF_KIND_FRAMES), me = cof_cap("me", COF_KIND_DOMAIN);
    while (cof_frames_retype(pool, 0, 2 * PAGE) == COF_E_BUSY)
        ;
    struct cof_mapping first = {me, pool, AT, 3, PAGE, PAGE}, second = {me, pool, AT + PAGE, 3, 0, PAGE};
    if (cof_frames_map(&first) != 0 || cof_frames_map(&second) != 0)
        return 1;
    for (int bytes = 2; bytes <= 8; bytes *= 2)
        for (int before = 1; before < bytes; before++) {
            uint32_t at = AT + PAGE - (uint32_t)before;
            store(at, bytes, 0x8877665544332211u);
            for (int byte = 0; byte < bytes; byte++)
                if (((volatile uint8_t *)at)[byte] != 0x11 * (byte + 1))
                    return 2;
            if (bytes == 4 && *(volatile uint32_t *)at != 0x44332211u)
                return 3;
        }
    puts("whole");
    return 0;
}
