/* Formats of printf and scanf that the run-time serves with picolibc, and refuses. */
#include "tried.h"

void formats_of_the_library(void) {
    long long count = 0;
    long double value = 0;
    FAILS(strcmp(print("%Lg", 2.5L), "length") == 0, ENOSYS);
    FAILS(strcmp(print("abc%jn %zu", &count, (size_t)1), "length") == 0, ENOSYS);
    FAILS(strcmp(print("%d %n", 1, (int *)&count), "length") == 0, ENOSYS);
    FAILS(sscanf("2.5", "%Lg", &value) == EOF && value == 0, ENOSYS);
    HOLDS(count == 0);
    float number = 0;
    HOLDS(sscanf("[a] 0x1.8p1", "[a] %a", &number) == 1 && number == 3);
    PRINTS("2 1", "%2$d %1$d", 1, 2);
    PRINTS("0.10000000000000001 0.10000000000000000555 1.0000000e+300", "%.17g %.20f %.7e", 0.1, 0.1, 1e300);
    /* In another order than numbered, a number with a point would be read as something else. */
    FAILS(strcmp(print("%2$d %1$g", 1.5, 2), "length") == 0, ENOSYS);
    HOLDS(sscanf("0x1.8", "%f", &number) == 1 && number == 1.5f && sscanf("1e+ 2", "%f", &number) == 0);
}
