/* The functions that the heap needs from a run-time, for a domain without Rust. */
#include <string.h>

#include "cofferdam.h"
#include "glue.h"

enum { NOT_A_BLOCK = 3, DOUBLE_FREE = 4, MISUSED = 102 };

/* How the memory manager is called. */
int32_t cof_grants_call(uint32_t gate, uint32_t *message) {
    uint32_t value;
    return cof_gate_call(gate, (uint32_t)(uintptr_t)message, 0, 0, &value);
}

/* Another thread of the domain is in the heap. A sleep of one tick would be over before the kernel has read the clock, and
 * a more important thread would spin until its budget is empty. */
bool cof_heap_wait(void) {
    return cof_sleep_until(cof_time_now() + COF_WAIT_TICKS(cof_ticks_per_second())) == 0;
}

/* The heap of the demand area makes pages regions, and frees regions. */
uint32_t cof_heap_map(uint32_t place, uint32_t pages, uint32_t cuts) {
    return (uint32_t)cof_region_map(place, pages, cuts);
}

uint32_t cof_heap_unmap(uint32_t place, uint32_t regions) {
    int32_t status = 0;
    while (regions > 0 && status == 0)
        status = cof_region_unmap(place, regions, &place, &regions);
    return (uint32_t)status;
}

static void say(const char *text) {
    cof_console_write(text, strlen(text));
}

/* The program has misused the heap: nothing that allocates may be called any more. */
void cof_heap_fault(uint32_t error, uint32_t address) {
    static char number[] = "heap: 0x00000000 was ";
    for (char *digit = number + 15; *digit != 'x'; digit--, address >>= 4)
        *digit = "0123456789abcdef"[address & 15];
    say(number);
    say(error == DOUBLE_FREE   ? "freed twice\n"
        : error == NOT_A_BLOCK ? "freed, but no block\n"
                               : "next to overwritten memory\n");
    cof_console_drain();
    for (;;)
        cof_exit(MISUSED);
}
