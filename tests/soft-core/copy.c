/* A service whose gate copies 64 bytes out: some 60 us. To map the two pages on which they can lie takes ten times as
 * long. */
#include "cofferdam.h"

enum { TEXT = 64 };

static uint8_t text[TEXT];

COF_ENTRY uint64_t copy(uint32_t badge, uint32_t to, uint32_t unused, uint32_t unused_too) {
    (void)badge, (void)unused, (void)unused_too;
    for (unsigned at = 0; at < TEXT; at++)
        text[at] = (uint8_t)(at + 1);
    return cof_reply(cof_gate_copy_out(to, text, TEXT), TEXT);
}

int main(void) {
    for (;;)
        cof_sleep_until(~0ull);
}
