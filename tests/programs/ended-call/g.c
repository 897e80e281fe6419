/* A callee that never returns, uses floating point, and leaves caches and flash buffers as bad as it can. */
#include "cofferdam.h"

#define LINES (8 << 10)

static volatile uint32_t lines[LINES];

__attribute__((naked, noinline, aligned(32))) static void run_through_code(void) {
    __asm__ volatile(".rept 2000\n nop\n .endr\n bx lr");
}

COF_ENTRY uint64_t slow(uint32_t badge, uint32_t x, uint32_t y, uint32_t z) {
    volatile float f = 1.5f;
    (void)badge, (void)x, (void)y, (void)z;
    for (unsigned at = 0;;) {
        for (int n = 0; n < 40; n++, at = (at + 8) % LINES)
            lines[at]++;
        f = f * 1.01f;
        run_through_code();
    }
}

int main(void) {
    for (;;)
        cof_sleep_until(~0ull);
}

#ifdef NESTED
static int32_t passes(const char *gate, uint32_t *value) {
    volatile float f = 1.5f;
    f = f * 1.1f;
    return cof_gate_call(cof_cap(gate, COF_KIND_GATE), 0, 0, 0, value);
}

/* Each gate calls the next. */
#define PASS(name, to)                                                           \
    COF_ENTRY uint64_t name(uint32_t badge, uint32_t x, uint32_t y, uint32_t z) { \
        uint32_t value = 0;                                                      \
        (void)badge, (void)x, (void)y, (void)z;                                  \
        int32_t status = passes(to, &value);                                     \
        return cof_reply(status, value);                                         \
    }

PASS(n1, "n2")
PASS(n2, "n3")
PASS(n3, "slow")
#endif
