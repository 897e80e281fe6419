/* The start of a domain's C side. user/info finds its information block. */
#include "cofferdam.h"
#include "glue.h"

enum { WRONG_VERSION = 100 };

static uint32_t restarted;
static bool begun;

void cof_begin(const uint32_t *info, uint32_t restarts) {
    if (!cof_info_begin(info))
        cof_exit(WRONG_VERSION);
    restarted = restarts;
    begun = true;
    cof_heap_begin();
}

uint32_t cof_restarts(void) {
    return restarted;
}

/* By this the memory manager tells the domain's lives apart. The run-time of a program in Rust that has parts in C
 * counts its lives itself. */
__attribute__((weak)) uint32_t cof_grants_life(void) {
    return begun ? restarted : UINT32_MAX;
}
