/* Looks things up in the start-up information block. */
#include <string.h>

#include "cofferdam.h"
#include "glue.h"

enum { CAPS = 4, AREAS = 5, NAME = 10 };
/* Words of an area entry behind its name. */
enum { BASE = 0, BYTES = 1, ACCESS = 2, KIND = 7 };

static const uint32_t *block;
static uint32_t restarted;

void cof_begin(const uint32_t *info, uint32_t restarts) {
    if (info[0] != COF_INFO_MAGIC || info[1] != COF_INFO_VERSION)
        cof_exit(100);
    block = info;
    restarted = restarts;
    cof_heap_begin(info);
}

const uint32_t *cof_info(void) {
    return block;
}

uint32_t cof_restarts(void) {
    return restarted;
}

const char *cof_name(void) {
    return (const char *)(block + NAME);
}

/* Entries of `bytes` bytes each that begin with a name. */
static const uint32_t *find(const char *entry, uint32_t count, uint32_t bytes, const char *name) {
    for (; count > 0; count--, entry += bytes)
        if (strncmp(entry, name, COF_INFO_NAME_BYTES) == 0)
            return (const uint32_t *)(entry + COF_INFO_NAME_BYTES);
    return 0;
}

uint32_t cof_cap(const char *name, uint32_t kind) {
    const char *entry = (const char *)(block + COF_INFO_HEADER_WORDS);
    uint32_t left = block ? block[CAPS] : 0;
    while (left > 0) {
        const uint32_t *found = find(entry, left, COF_INFO_CAP_BYTES, name);
        if (!found)
            break;
        if (found[1] == kind)
            return found[0];
        const char *next = (const char *)(found + 2);
        left -= (uint32_t)(next - entry) / COF_INFO_CAP_BYTES;
        entry = next;
    }
    return COF_NO_SLOT;
}

int32_t cof_area(const char *name, struct cof_area *area) {
    if (!block)
        return COF_E_BAD_STATE;
    const char *areas = (const char *)(block + COF_INFO_HEADER_WORDS) + block[CAPS] * COF_INFO_CAP_BYTES;
    const uint32_t *found = find(areas, block[AREAS], COF_INFO_AREA_BYTES, name);
    if (!found)
        return COF_E_BAD_ARGUMENT;
    area->base = found[BASE];
    area->bytes = found[BYTES];
    area->access = found[ACCESS];
    area->kind = found[KIND];
    return 0;
}
