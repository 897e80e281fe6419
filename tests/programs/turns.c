/* Two threads of one domain and one budget allocate. The less important one does nothing else, so that it is in the heap
 * whenever the other one looks; the other one gets its turn all the same. */
#include <cofferdam.h>
#include <stdint.h>
#include <stdlib.h>

enum { ROUNDS = 200 };

static volatile uint32_t done;

COF_ENTRY void high(const uint32_t *info, uint32_t argument) {
    (void)info;
    (void)argument;
    uint64_t second = cof_ticks_per_second();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        cof_sleep_until(cof_time_now() + second / 700 + round * 37 % 9000);
        void *block = malloc(24);
        done += block != NULL;
        free(block);
    }
    cof_exit(0);
}

int main(void) {
    uint32_t rounds = 0;
    while (done < ROUNDS && rounds < 20000) {
        void *one = malloc(100), *other = malloc(40);
        free(one);
        free(other);
        rounds++;
    }
    return done != ROUNDS;
}
