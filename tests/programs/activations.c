/* A service with two threads and a gate, all of which format and read numbers, allocate and look at the clock. The
 * gate's caller, and the second thread, come before the first thread has run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cofferdam.h"

/* As many as impatient.c makes. */
enum { CALLS = 20 };

static volatile int done, calls, second_rounds, second_wrong;

/* Whether everything gives what it should, for the activation with this number. The heap may be taken in a gate alone.
 */
static int wrong(double number, const char *text, int in_gate) {
    char own[24];
    struct timespec now;
    char *block = malloc(24);
    errno = 0;
    int length = snprintf(own, sizeof own, "%.4f", number);
    double read = strtod(text, NULL);
    int is_wrong = length != (int)strlen(text) || strcmp(own, text) != 0 || read != number || (!block && !in_gate) ||
                   clock_gettime(CLOCK_MONOTONIC, &now) != 0 || cof_ticks_per_second() == 0;
    free(block);
    return is_wrong;
}

COF_ENTRY void second(const uint32_t *info, uint32_t argument) {
    (void)info;
    (void)argument;
    while (!done) {
        second_wrong += wrong(9876.5432, "9876.5432", 0);
        second_rounds++;
        cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 3000);
    }
    cof_exit(0);
}

COF_ENTRY uint64_t show(uint32_t badge, uint32_t unused0, uint32_t unused1, uint32_t unused2) {
    (void)badge;
    (void)unused0;
    (void)unused1;
    (void)unused2;
    calls++;
    return cof_reply(0, (uint32_t)wrong(123456.75, "123456.7500", 1));
}

int main(void) {
    int first_wrong = 0, before = second_rounds;
    while (calls < CALLS)
        first_wrong += wrong(1.25, "1.2500", 0);
    done = 1;
    printf("first %d wrong, second %d wrong, %s\n", first_wrong, second_wrong,
           before > 0 && second_rounds > before + 1 ? "interleaved" : "APART");
    return 0;
}
