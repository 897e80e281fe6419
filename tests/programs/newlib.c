/* Formats of printf that the run-time serves with newlib, and refuses. */
#include "tried.h"

void formats_of_the_library(void) {
    long long count = 0;
    PRINTS("2.5", "%Lg", 2.5L);
    PRINTS("0.10000000000000001", "%.17g", 0.1);
    PRINTS("abc 1", "abc%jn %zu", &count, (size_t)1);
    HOLDS(count == 3);
    FAILS(strcmp(print("%1$d", 1), "length") == 0, ENOSYS);
    char word[1], *end = word;
    FAILS(strtol("5", &end, 37) == 0 && end == word, EINVAL);
}
