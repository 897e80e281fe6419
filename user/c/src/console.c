/* Text output through the gate `console` of the console service. */
#include "cofferdam.h"

enum { CALL_MAX_BYTES = 256, TRIES = 200, WAITS_PER_SECOND = 1000 };

static int has_written;

static int passing(int32_t status) {
    return status == COF_E_BUSY || status == COF_E_FULL || status == COF_E_STOPPED || status == COF_E_BAD_STATE;
}

static int32_t write_part(uint32_t gate, const char *bytes, uint32_t length) {
    uint32_t wait = cof_ticks_per_second() / WAITS_PER_SECOND;
    int32_t status = 0;
    for (int tries = 0; tries < TRIES; tries++) {
        uint32_t taken;
        status = cof_gate_call(gate, (uint32_t)(uintptr_t)bytes, length, 0, &taken);
        if (!passing(status) || cof_sleep_until(cof_time_now() + wait) != 0)
            break;
    }
    return status;
}

int32_t cof_console_write(const void *bytes, size_t length) {
    uint32_t gate = cof_cap("console", COF_KIND_GATE);
    const char *next = bytes;
    has_written = 1;
    while (length > 0) {
        uint32_t part = length < CALL_MAX_BYTES ? (uint32_t)length : CALL_MAX_BYTES;
        int32_t status = write_part(gate, next, part);
        if (status != 0)
            return status;
        next += part;
        length -= part;
    }
    return 0;
}

/* The end of a domain can be the end of the run: what it has written is printed first, as long as the service goes on
 * with that. In a gate, or without budget, the wait is refused. */
void cof_console_drain(void) {
    uint32_t gate = cof_cap("console", COF_KIND_GATE), wait = cof_ticks_per_second() / WAITS_PER_SECOND;
    uint32_t left = 0, before = 0;
    for (int tries = 0; has_written && tries < TRIES; tries++) {
        int32_t status = cof_gate_call(gate, 0, 0, 0, &left);
        if (status == 0 && left == 0)
            return;
        if ((status != 0 && !passing(status)) || cof_sleep_until(cof_time_now() + wait) != 0)
            return;
        if (status == 0 && left != before) {
            before = left;
            tries = 0;
        }
    }
}
