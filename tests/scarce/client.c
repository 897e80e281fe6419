/* Asks for memory in the smallest pieces, as long as there is any, and says how much it got. Clients ask one after the
 * other: TURN is a bit. */
#include <stdio.h>

#include "cofferdam.h"
#include "cofferdam_memory.h"

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const uint32_t events = cof_cap("turn", COF_KIND_NOTIFICATION);
    uint32_t bits, pieces = 0, bytes = 0;
    cof_wait(events, TURN, &bits);
    for (struct rt_bound bound; pieces < 100; pieces++) {
        void *memory = rt_malloc(256, RT_L2 | RT_DATA_OFF_CHIP);
        if (!memory || rt_query(memory, &bound) != 0)
            break;
        bytes += bound.bytes;
    }
    char why[400] = "";
    rt_refusal_text(why, sizeof why);
    printf("%lu bytes in %lu pieces\n%s\n", (unsigned long)bytes, (unsigned long)pieces, why);
    cof_signal(events, TURN << 1);
    return 0;
}
