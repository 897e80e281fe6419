/* The start of a domain's C side. user/info finds its information block. */
#include "cofferdam.h"
#include "glue.h"

enum { WRONG_VERSION = 100 };

static uint32_t restarted;

void cof_begin(const uint32_t *info, uint32_t restarts) {
    if (!cof_info_begin(info))
        cof_exit(WRONG_VERSION);
    restarted = restarts;
    cof_heap_begin();
}

uint32_t cof_restarts(void) {
    return restarted;
}
