/* A program without a heap, or whose heap is used up: numbers are printed and read, and it ends as END says. */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char text[40];
    while (malloc(64)) {
    }
    int length = snprintf(text, sizeof text, "%.3f %g %a", 1.5, 1e10, 0.5);
    printf("%d %s %d\n", length, text, strtod("1.2345678901234567e-10", NULL) == 1.2345678901234567e-10);
#if END == 1
    abort();
#elif END == 2
    assert(!text[0]);
#elif END == 3
    raise(SIGTERM);
#endif
    return 0;
}
