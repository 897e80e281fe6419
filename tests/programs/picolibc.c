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
    /* As many digits as tell the number from its neighbours, and zeros behind them. */
    PRINTS("0.1 0.10000000000000000000 1.0000000e+300", "%.17g %.20f %.7e", 0.1, 0.1, 1e300);
}
