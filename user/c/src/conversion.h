/* Conversions in the formats of printf and scanf, for run-times that have to know more of them than the library of C.
 */
#ifndef COFFERDAM_CONVERSION_H
#define COFFERDAM_CONVERSION_H

#include <string.h>

enum length { NONE, CHAR, SHORT, LONG, LONG_LONG, INTMAX, WORD, WIDE_DOUBLE };

/* One conversion, from behind its `%`. */
struct conversion {
    const char *flags, *width, *precision, *length, *end; /* where each begins; `end` is behind the letter */
    enum length size;
    char letter;
};

/* Finds the next conversion; null at the end of the format. A scan set's letter is its bracket. */
const char *cof_next_conversion(const char *format, struct conversion *found);

/* Returns true if a letter is in a part of a format. */
static inline int cof_contains(const char *from, const char *to, char letter) {
    return memchr(from, letter, (size_t)(to - from)) != 0;
}

/* Returns true if the argument consists of wide characters. */
static inline int cof_is_wide(const struct conversion *c) {
    return strchr("CSm", c->letter) || (c->size == LONG && strchr("cs[", c->letter));
}

#endif
