/* Uses up all that it can get of what the kernel's frame table has, with frames of its own: every other granule of them
 * is typed. */
#include <stdio.h>

#include "cofferdam.h"

enum { FRAMES = 64 << 10, GRANULE = 32 };

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    uint32_t mine = cof_cap("mine", COF_KIND_FRAMES), typed = 0;
    int32_t status = 0;
    for (uint32_t at = GRANULE; at < FRAMES && status == 0; at += 2 * GRANULE) {
        status = cof_frames_retype(mine, at, GRANULE);
        typed += status == 0;
    }
    printf("%lu granules, then %s\n", (unsigned long)typed, status == COF_E_FULL ? "FULL" : "something else");
    cof_signal(cof_cap("turn", COF_KIND_NOTIFICATION), 1);
    return 0;
}
