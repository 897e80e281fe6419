/* newlib is shipped without the C99 conversions: `%zu` prints "zu", `%a` prints "a", and `%hhd` reads and writes a
 * short. The linker leads each printf and scanf of newlib through here (--wrap). A format that newlib understands goes
 * on as it is; another is written anew, with the same meaning; one that newlib cannot serve (wide characters, numbered
 * arguments) is refused with ENOSYS, for printing it would be wrong in silence. */
#include <alloca.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conversion.h"

/* Longest width and precision of `%a`; more is refused. */
enum { HEX_MAX = 99, HEX_DIGITS = 13, DIGIT_BITS = 4, FRACTION_BITS = 52, BIAS = 1023, LONGEST_HEX = 2 * HEX_MAX + 32 };

enum verdict { KNOWN, REWRITE, REFUSE };

/* A format in the making, and the arguments that belong to it: AAPCS32 keeps them in a row of words, doublewords
 * aligned, and a va_list is the address of the next. */
struct rewriting {
    char *format;
    char *next;
};

_Static_assert(sizeof(va_list) == sizeof(char *), "a va_list is an address");

static enum verdict judge(const char *format, int printing, size_t *conversions) {
    struct conversion c;
    enum verdict verdict = KNOWN;
    for (*conversions = 0; (format = cof_next_conversion(format, &c)); ++*conversions) {
        if (!c.letter)
            break;
        if (cof_contains(c.flags, c.length, '$') || cof_is_wide(&c) || (printing && c.letter == 'n' && c.size == CHAR))
            return REFUSE;
        if (c.size == CHAR || c.size == INTMAX || c.size == WORD || strchr("aAF", c.letter) ||
            cof_contains(c.flags, c.width, '\''))
            verdict = REWRITE;
    }
    return verdict;
}

static void put_word(struct rewriting *r, uint32_t word) {
    memcpy(r->next, &word, sizeof word);
    r->next += sizeof word;
}

static void put_double_word(struct rewriting *r, const void *bytes) {
    r->next = (char *)(((uintptr_t)r->next + 7) & ~(uintptr_t)7);
    memcpy(r->next, bytes, 8);
    r->next += 8;
}

static void put_text(struct rewriting *r, const char *from, const char *to) {
    memcpy(r->format, from, (size_t)(to - from));
    r->format += to - from;
}

/* Width and precision as numbers; a star takes an argument. -1: not given. */
static int number(const char *from, const char *to, va_list *arguments) {
    int value = from == to ? -1 : 0;
    if (cof_contains(from, to, '*'))
        return va_arg(*arguments, int);
    for (; from != to; from++)
        value = *from >= '0' && *from <= '9' && value <= HEX_MAX ? value * 10 + (*from - '0') : value;
    return value;
}

/* The digits of `value` behind its sign, as `%a` has them, rounded to even. */
static char *hex_digits(double value, int precision, int point, char *to) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS & 0x7ff);
    uint64_t fraction = bits & (((uint64_t)1 << FRACTION_BITS) - 1);
    if (exponent)
        fraction |= (uint64_t)1 << FRACTION_BITS;
    exponent = exponent ? exponent - BIAS : fraction ? 1 - BIAS : 0;
    if (precision >= 0 && precision < HEX_DIGITS) {
        int dropped = (HEX_DIGITS - precision) * DIGIT_BITS;
        uint64_t unit = (uint64_t)1 << dropped, rest = fraction & (unit - 1);
        fraction -= rest;
        if (rest > unit / 2 || (rest == unit / 2 && (fraction & unit)))
            fraction += unit;
    }
    int digits = HEX_DIGITS;
    while (precision < 0 && digits > 0 && !(fraction >> (HEX_DIGITS - digits) * DIGIT_BITS & 15))
        digits--;
    digits = precision < 0 ? digits : precision;
    *to++ = (char)('0' + (fraction >> FRACTION_BITS));
    if (digits > 0 || point)
        *to++ = '.';
    for (int i = 1; i <= digits; i++)
        *to++ = i > HEX_DIGITS ? '0' : "0123456789abcdef"[fraction >> (HEX_DIGITS - i) * DIGIT_BITS & 15];
    *to++ = 'p';
    *to++ = exponent < 0 ? '-' : '+';
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    for (unsigned unit = size < 10 ? 1 : size < 100 ? 10 : size < 1000 ? 100 : 1000; unit; unit /= 10)
        *to++ = (char)('0' + size / unit % 10);
    return to;
}

static char *put_many(char *to, char letter, int count) {
    memset(to, letter, (size_t)count);
    return to + count;
}

/* Writes a number as `%a` does, padded; false when it is longer than there is room. */
static int hex_float(const struct conversion *c, va_list *arguments, char *to) {
    char digits[HEX_MAX + 32], *end = digits;
    int left = cof_contains(c->flags, c->width, '-'), width = number(c->width, c->precision, arguments);
    int precision = c->precision == c->length ? -1 : number(c->precision + 1, c->length, arguments);
    precision = c->precision + 1 == c->length ? 0 : precision;
    double value = va_arg(*arguments, double);
    left |= width < -1;
    width = width < -1 ? -width : width;
    if (width > HEX_MAX || precision > HEX_MAX)
        return 0;
    const char *sign = signbit(value)                          ? "-"
                       : cof_contains(c->flags, c->width, '+') ? "+"
                       : cof_contains(c->flags, c->width, ' ') ? " "
                                                               : "";
    int finite = isfinite(value), zeros = finite && !left && cof_contains(c->flags, c->width, '0');
    if (finite)
        end = hex_digits(value, precision, cof_contains(c->flags, c->width, '#'), end);
    else
        end = stpcpy(end, isnan(value) ? "nan" : "inf");
    *end = 0;
    int pad = width - (int)(strlen(sign) + (finite ? 2 : 0) + strlen(digits));
    pad = pad < 0 ? 0 : pad;
    char *at = put_many(to, ' ', left || zeros ? 0 : pad);
    at = stpcpy(stpcpy(at, sign), finite ? "0x" : "");
    at = stpcpy(put_many(at, '0', zeros ? pad : 0), digits);
    *put_many(at, ' ', left ? pad : 0) = 0;
    for (at = to; c->letter == 'A' && *at; at++)
        *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
    return 1;
}

/* Takes the argument of an integer conversion, narrowed as `hh` asks. */
static void put_integer(struct rewriting *r, const struct conversion *c, va_list *arguments) {
    if (c->size == LONG_LONG || c->size == INTMAX || c->size == WIDE_DOUBLE) {
        uint64_t value = va_arg(*arguments, uint64_t);
        put_double_word(r, &value);
        return;
    }
    uint32_t value = va_arg(*arguments, uint32_t);
    if (c->size == CHAR)
        value = strchr("di", c->letter) ? (uint32_t)(signed char)value : (unsigned char)value;
    put_word(r, value);
}

/* The rest of a conversion that newlib understands by another length. */
static void put_conversion(struct rewriting *r, const struct conversion *c, va_list *arguments) {
    for (const char *at = c->flags; at != c->length; at++) {
        if (*at != '\'')
            *r->format++ = *at;
        if (*at == '*')
            put_word(r, va_arg(*arguments, uint32_t));
    }
    char letter = c->letter;
    if (strchr("eEfFgG", letter)) {
        double value = va_arg(*arguments, double);
        letter = letter != 'F' ? letter : isfinite(value) ? 'f' : 'E';
        put_double_word(r, &value);
    } else if (strchr("diuoxX", letter)) {
        put_integer(r, c, arguments);
        if (c->size == LONG_LONG || c->size == INTMAX || c->size == WIDE_DOUBLE)
            r->format = stpcpy(r->format, "ll");
        else if (c->size == SHORT)
            *r->format++ = 'h';
    } else if (letter != '%') {
        put_word(r, va_arg(*arguments, uint32_t));
        if (letter == 'n')
            r->format = stpcpy(r->format, c->size == INTMAX || c->size == LONG_LONG ? "ll"
                                          : c->size == SHORT                        ? "h"
                                                                                    : "");
    }
    *r->format++ = letter;
}

typedef int (*printer)(struct _reent *, FILE *, const char *, va_list);

static int refuse(struct _reent *state) {
    state->_errno = ENOSYS;
    return EOF;
}

static int rewritten(printer print, struct _reent *state, FILE *file, const char *format, va_list arguments,
                     size_t count) {
    struct conversion c;
    /* Each conversion takes two stars and a doubleword at most, and becomes one letter longer at most. */
    char *text = alloca(strlen(format) + count + 1);
    char *values = alloca(count * 16 + 8);
    values = (char *)(((uintptr_t)values + 7) & ~(uintptr_t)7);
    struct rewriting r = {text, values};
    for (const char *at = format, *end; *at; at = end) {
        end = cof_next_conversion(at, &c);
        if (!end || !c.letter) {
            put_text(&r, at, at + strlen(at));
            break;
        }
        put_text(&r, at, c.flags);
        if (c.letter == 'a' || c.letter == 'A') {
            char *hex = alloca(LONGEST_HEX);
            if (!hex_float(&c, &arguments, hex))
                return refuse(state);
            *r.format++ = 's';
            put_word(&r, (uint32_t)(uintptr_t)hex);
        } else {
            put_conversion(&r, &c, &arguments);
        }
    }
    *r.format = 0;
    va_list list;
    memcpy(&list, &values, sizeof list);
    return print(state, file, text, list);
}

/* A char that newlib reads as a short first. */
struct narrow {
    short value;
    signed char *target;
};

static int scanned(printer scan, struct _reent *state, FILE *file, const char *format, va_list arguments,
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
            put_text(&r, at, at + strlen(at));
            break;
        }
        put_text(&r, at, c.length);
        if (c.size == INTMAX || c.size == LONG_LONG)
            r.format = stpcpy(r.format, "ll");
        else if (c.size == CHAR || c.size == SHORT)
            *r.format++ = 'h';
        else if (c.size == LONG || c.size == WIDE_DOUBLE)
            *r.format++ = *c.length;
        if (strchr("aAF", c.letter))
            *r.format++ = 'f';
        else
            put_text(&r, c.length + strspn(c.length, "hlqjztL"), c.end);
        if (c.letter == '%' || cof_contains(c.flags, c.length, '*'))
            continue;
        void *target = va_arg(arguments, void *);
        if (c.size == CHAR) {
            chars[narrowed] = (struct narrow){*(signed char *)target, target};
            target = &chars[narrowed++].value;
        }
        put_word(&r, (uint32_t)(uintptr_t)target);
    }
    *r.format = 0;
    va_list list;
    memcpy(&list, &values, sizeof list);
    int result = scan(state, file, text, list);
    for (size_t i = 0; i < narrowed; i++)
        *chars[i].target = (signed char)chars[i].value;
    return result;
}

/* Leads a call to newlib's function, with another format if it does not know this one. `prints`: it is of printf, and
 * else of scanf. */
static int translated(printer real, int prints, struct _reent *state, FILE *file, const char *format,
                      va_list arguments) {
    size_t count;
    switch (judge(format, prints, &count)) {
    case KNOWN:
        return real(state, file, format, arguments);
    case REFUSE:
        return refuse(state);
    default:
        return (prints ? rewritten : scanned)(real, state, file, format, arguments, count);
    }
}

/* newlib's functions, each with the one that the linker calls in its place. */
#define WRAP(name, prints)                                                                                             \
    int __real_##name(struct _reent *, FILE *, const char *, va_list);                                                 \
    int __wrap_##name(struct _reent *state, FILE *file, const char *format, va_list arguments) {                       \
        return translated(__real_##name, prints, state, file, format, arguments);                                      \
    }
WRAP(_vfprintf_r, 1)
WRAP(_vfiprintf_r, 1)
WRAP(_svfprintf_r, 1)
WRAP(_svfiprintf_r, 1)
WRAP(__svfscanf_r, 0)
WRAP(__svfiscanf_r, 0)
WRAP(__ssvfscanf_r, 0)
WRAP(__ssvfiscanf_r, 0)

/* These are defined beside what they call, where the linker does not come between. */
int __wrap_vfprintf(FILE *file, const char *format, va_list arguments) {
    return __wrap__vfprintf_r(_REENT, file, format, arguments);
}
int __wrap_vfscanf(FILE *file, const char *format, va_list arguments) {
    return __wrap___svfscanf_r(_REENT, file, format, arguments);
}
