/* Text as numbers. newlib's strtod takes room from a heap, by records that all threads of a domain share. */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <reent.h>
#include <stdlib.h>

#include "glue.h"

#define READER(name, type, read)                                                                                       \
    static type name(int *why, const char *text, char **end) {                                                         \
        size_t taken;                                                                                                  \
        bool out_of_range;                                                                                             \
        type value = read(text, &taken, &out_of_range);                                                                \
        if (out_of_range)                                                                                              \
            *why = ERANGE;                                                                                             \
        if (end)                                                                                                       \
            *end = (char *)text + taken;                                                                               \
        return value;                                                                                                  \
    }
READER(number, double, cof_number_read)
READER(single, float, cof_number_read_single)

/* All functions of newlib's own file, so that it is not linked; a program's own take their places. */
#define OWN __attribute__((weak))
OWN double _strtod_l(struct _reent *state, const char *restrict text, char **restrict end, locale_t locale) {
    (void)locale;
    return number(&state->_errno, text, end);
}
OWN double _strtod_r(struct _reent *state, const char *restrict text, char **restrict end) {
    return number(&state->_errno, text, end);
}
OWN double strtod(const char *restrict text, char **restrict end) {
    return number(&errno, text, end);
}
OWN double strtod_l(const char *restrict text, char **restrict end, locale_t locale) {
    (void)locale;
    return number(&errno, text, end);
}
OWN float strtof(const char *restrict text, char **restrict end) {
    return single(&errno, text, end);
}
OWN float strtof_l(const char *restrict text, char **restrict end, locale_t locale) {
    (void)locale;
    return single(&errno, text, end);
}
/* A long double is a double on these processors. */
_Static_assert(sizeof(long double) == sizeof(double), "a long double is a double");
OWN long double _strtold_r(struct _reent *state, const char *restrict text, char **restrict end) {
    return number(&state->_errno, text, end);
}
OWN long double strtold(const char *restrict text, char **restrict end) {
    return number(&errno, text, end);
}
OWN long double strtold_l(const char *restrict text, char **restrict end, locale_t locale) {
    (void)locale;
    return number(&errno, text, end);
}
