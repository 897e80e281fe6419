/* Each thread computes for a while, and then waits for a notification that nobody signals. */
#include <cofferdam.h>
#include <stdint.h>
COF_ENTRY void stay(const uint32_t *info, uint32_t argument) {
    (void)info;
    static const char *const names[] = {"never0", "never1", "never2", "never3", "never4",  "never5",
                                        "never6", "never7", "never8", "never9", "never10", "never11"};
    for (volatile int k = 0; k < 3000; k++) {
    }
    for (;;)
        (void)cof_wait(cof_cap(names[argument], COF_KIND_NOTIFICATION), 1, 0);
}
int main(void) {
    stay(0, 0);
    return 0;
}
