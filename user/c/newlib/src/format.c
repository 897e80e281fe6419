/* newlib is shipped without the C99 conversions: `%zu` prints "zu", `%a` prints "a", and `%hhd` reads and writes a
 * short. The linker leads each printf and scanf of newlib through here (--wrap). Formats of printf go through
 * user/c/src/format.c, and from there to newlib's printf without floating-point numbers. A format of scanf that newlib
 * understands goes on as it is; another is written anew, with the same meaning; one that newlib cannot serve (wide
 * characters, numbered arguments) is refused with ENOSYS, for reading it would be wrong in silence. */
#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conversion.h"
#include "format.h"

typedef int scanner(struct _reent *, FILE *, const char *, va_list);

enum verdict { KNOWN, REWRITE, REFUSE };

/* A format of scanf in the making, and the addresses that belong to it, in a row as a va_list has them (AAPCS32). */
struct rewriting {
    char *format;
    char *next;
};

_Static_assert(sizeof(va_list) == sizeof(char *), "a va_list is an address");

static enum verdict judge(const char *format, size_t *conversions) {
    struct conversion c;
    enum verdict verdict = KNOWN;
    for (*conversions = 0; (format = cof_next_conversion(format, &c)); ++*conversions) {
        if (!c.letter)
            break;
        if (cof_contains(c.flags, c.length, '$') || cof_is_wide(&c))
            return REFUSE;
        if (c.size == CHAR || c.size == INTMAX || c.size == WORD || strchr("aAF", c.letter) ||
            cof_contains(c.flags, c.width, '\''))
            verdict = REWRITE;
    }
    return verdict;
}

static char *put_text(char *to, const char *from, const char *end) {
    return (char *)memcpy(to, from, (size_t)(end - from)) + (end - from);
}

/* A char that newlib reads as a short first. */
struct narrow {
    short value;
    signed char *target;
};

static int rewritten(scanner *scan, struct _reent *state, FILE *file, const char *format, va_list arguments,
                     size_t count) {
    struct conversion c;
    size_t narrowed = 0;
    char *text = alloca(strlen(format) + count + 1);
    char *values = alloca(count * 4 + 4);
    struct narrow *chars = alloca(count * sizeof *chars);
    struct rewriting r = {text, values};
    for (const char *at = format, *end; *at; at = end) {
        end = cof_next_conversion(at, &c);
        if (!end || !c.letter) {
            r.format = stpcpy(r.format, at);
            break;
        }
        r.format = put_text(r.format, at, c.length);
        if (c.size == INTMAX || c.size == LONG_LONG)
            r.format = stpcpy(r.format, "ll");
        else if (c.size == CHAR || c.size == SHORT)
            *r.format++ = 'h';
        else if (c.size == LONG || c.size == WIDE_DOUBLE)
            *r.format++ = *c.length;
        if (strchr("aAF", c.letter))
            *r.format++ = 'f';
        else
            r.format = put_text(r.format, c.length + strspn(c.length, "hlqjztL"), c.end);
        if (c.letter == '%' || cof_contains(c.flags, c.length, '*'))
            continue;
        void *target = va_arg(arguments, void *);
        if (c.size == CHAR) {
            chars[narrowed] = (struct narrow){*(signed char *)target, target};
            target = &chars[narrowed++].value;
        }
        memcpy(r.next, &target, sizeof target);
        r.next += sizeof target;
    }
    *r.format = 0;
    va_list list;
    memcpy(&list, &values, sizeof list);
    int result = scan(state, file, text, list);
    for (size_t i = 0; i < narrowed; i++)
        *chars[i].target = (signed char)chars[i].value;
    return result;
}

static int scan(scanner *real, struct _reent *state, FILE *file, const char *format, va_list arguments) {
    size_t count;
    switch (judge(format, &count)) {
    case KNOWN:
        return real(state, file, format, arguments);
    case REWRITE:
        return rewritten(real, state, file, format, arguments, count);
    default:
        errno = ENOSYS;
        return EOF;
    }
}

/* Where newlib prints to. */
struct output {
    struct _reent *state;
    FILE *file;
};

/* newlib's functions, each with those that the linker calls in its place: with floating-point numbers, or without. */
#define PRINTER(integers, numbers)                                                                                     \
    int __real_##integers(struct _reent *, FILE *, const char *, va_list);                                             \
    static int print##integers(void *to, const char *format, va_list arguments) {                                      \
        const struct output *output = to;                                                                              \
        return __real_##integers(output->state, output->file, format, arguments);                                      \
    }                                                                                                                  \
    int __wrap_##integers(struct _reent *state, FILE *file, const char *format, va_list arguments) {                   \
        return cof_print(print##integers, &(struct output){state, file}, format, arguments);                           \
    }                                                                                                                  \
    int __wrap_##numbers(struct _reent *state, FILE *file, const char *format, va_list arguments) {                    \
        return __wrap_##integers(state, file, format, arguments);                                                      \
    }
PRINTER(_vfiprintf_r, _vfprintf_r)
PRINTER(_svfiprintf_r, _svfprintf_r)

#define SCANNER(name)                                                                                                  \
    scanner __real_##name;                                                                                             \
    int __wrap_##name(struct _reent *state, FILE *file, const char *format, va_list arguments) {                       \
        return scan(__real_##name, state, file, format, arguments);                                                    \
    }
SCANNER(__svfscanf_r)
SCANNER(__svfiscanf_r)
SCANNER(__ssvfscanf_r)
SCANNER(__ssvfiscanf_r)

/* These are defined beside what they call, where the linker does not come between. */
int __wrap_vfprintf(FILE *file, const char *format, va_list arguments) {
    return __wrap__vfiprintf_r(_REENT, file, format, arguments);
}
int __wrap_vfscanf(FILE *file, const char *format, va_list arguments) {
    return __wrap___svfscanf_r(_REENT, file, format, arguments);
}
