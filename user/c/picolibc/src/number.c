/* Text as numbers. picolibc 1.8 reads `0x1.8` as 12, and rounds numbers of more than 17 digits wrongly. A long double,
 * which has 128 bits here, gets the digits of a double. */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

#include "glue.h"

static void tell(bool out_of_range, const char *text, size_t taken, char **end) {
    if (out_of_range)
        errno = ERANGE;
    if (end)
        *end = (char *)text + taken;
}

/* A program's own functions of these names take their places. */
#define OWN __attribute__((weak))
#define READERS(name, type, read)                                                                                      \
    OWN type name(const char *restrict text, char **restrict end) {                                                    \
        size_t taken;                                                                                                  \
        bool out_of_range;                                                                                             \
        type value = read(text, &taken, &out_of_range);                                                                \
        tell(out_of_range, text, taken, end);                                                                          \
        return value;                                                                                                  \
    }                                                                                                                  \
    OWN type name##_l(const char *restrict text, char **restrict end, locale_t locale) {                               \
        (void)locale;                                                                                                  \
        return name(text, end);                                                                                        \
    }
READERS(strtod, double, cof_number_read)
READERS(strtof, float, cof_number_read_single)
READERS(strtold, long double, cof_number_read)

/* Letters of numbers are letters of ASCII: as many as there may be in a row. */
#define WIDE_READERS(name, type, narrow)                                                                               \
    OWN type name(const wchar_t *restrict text, wchar_t **restrict end) {                                              \
        size_t blanks = 0, letters = 0;                                                                                \
        while (iswspace((wint_t)text[blanks]))                                                                         \
            blanks++;                                                                                                  \
        const wchar_t *own = text + blanks;                                                                            \
        while (own[letters] > L' ' && own[letters] < 127 && own[letters] != L',' && own[letters] != L';')              \
            letters++;                                                                                                 \
        char *copy = alloca(letters + 1), *behind;                                                                     \
        for (size_t i = 0; i < letters; i++)                                                                           \
            copy[i] = (char)own[i];                                                                                    \
        copy[letters] = 0;                                                                                             \
        type value = narrow(copy, &behind);                                                                            \
        if (end)                                                                                                       \
            *end = (wchar_t *)(behind == copy ? text : own + (behind - copy));                                         \
        return value;                                                                                                  \
    }                                                                                                                  \
    OWN type name##_l(const wchar_t *restrict text, wchar_t **restrict end, locale_t locale) {                         \
        (void)locale;                                                                                                  \
        return name(text, end);                                                                                        \
    }
WIDE_READERS(wcstod, double, strtod)
WIDE_READERS(wcstof, float, strtof)
