/* The libraries of C here are shipped without some conversions of C99, and print floating-point numbers from a heap
 * that all threads share (newlib) or with wrong last digits (picolibc). The linker leads each printf through here
 * (--wrap). A format that the library serves goes on as it is; another is written anew, with the same meaning: numbers
 * become text first. One that it cannot serve is refused with ENOSYS, for printing it would be wrong in silence. */
#include <alloca.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conversion.h"
#include "dialect.h"
#include "format.h"
#include "glue.h"

/* A number has no more digits behind the point that are not zero, and `%a` no more than 13. */
enum { MOST_PLACES = 1074, HEX_DIGITS = 13, DIGIT_BITS = 4, FRACTION_BITS = 52, BIAS = 1023 };
/* A conversion becomes as many letters, and words of arguments, at most: blanks, sign, zeros, digits, zeros, exponent.
 */
enum { MOST_LETTERS = 24, MOST_WORDS = 12 };

enum verdict { KNOWN, REWRITE, REFUSE };

/* A format in the making, and the arguments that belong to it: both calling conventions (AAPCS32, and ILP32 of RISC-V)
 * keep them in a row of words, doublewords aligned, and a va_list is the address of the next. */
struct rewriting {
    char *format;
    char *next;
};

_Static_assert(sizeof(va_list) == sizeof(char *), "a va_list is an address");

static int is_number(char letter) {
    return letter && strchr("aAeEfFgG", letter);
}

static enum verdict judge(const char *format, size_t *conversions) {
    struct conversion c;
    enum verdict verdict = KNOWN;
    int numbered = 0;
    for (*conversions = 0; (format = cof_next_conversion(format, &c)); ++*conversions) {
        if (!c.letter)
            break;
        numbered |= cof_contains(c.flags, c.length, '$');
        if (cof_is_wide(&c) || (c.letter == 'n' && (!COUNTS || c.size == CHAR)) ||
            (c.size == WIDE_DOUBLE && !WIDE_DOUBLES))
            return REFUSE;
        if (c.size == CHAR || c.size == INTMAX || c.size == WORD || is_number(c.letter) ||
            cof_contains(c.flags, c.width, '\'') || (c.letter == 'o' && cof_contains(c.flags, c.width, '#')))
            verdict = REWRITE;
    }
    /* Numbered arguments are in another order, and only a library that knows them may read them. */
    return numbered && (!NUMBERED || verdict == REWRITE) ? REFUSE : verdict;
}

static void put_word(struct rewriting *r, uint32_t word) {
    memcpy(r->next, &word, sizeof word);
    r->next += sizeof word;
}

static void put_double_word(struct rewriting *r, uint64_t value) {
    r->next = (char *)(((uintptr_t)r->next + 7) & ~(uintptr_t)7);
    memcpy(r->next, &value, sizeof value);
    r->next += sizeof value;
}

static void put_text(struct rewriting *r, const char *from, const char *to) {
    memcpy(r->format, from, (size_t)(to - from));
    r->format += to - from;
}

static void put_string(struct rewriting *r, const char *text) {
    r->format = stpcpy(r->format, "%s");
    put_word(r, (uint32_t)(uintptr_t)text);
}

static void put_blanks(struct rewriting *r, int count) {
    if (count <= 0)
        return;
    r->format = stpcpy(r->format, "%*s");
    put_word(r, (uint32_t)count);
    put_word(r, (uint32_t)(uintptr_t)"");
}

static void put_zeros(struct rewriting *r, int count) {
    if (count <= 0)
        return;
    r->format = stpcpy(r->format, "%.*d");
    put_word(r, (uint32_t)count);
    put_word(r, 0);
}

/* Flags, width and precision of a conversion, stars replaced by their arguments. */
struct layout {
    int left, zeros, alternate, width, precision; /* precision -1: not given */
    const char *plus;
};

static int number(const char *from, const char *to, va_list *arguments) {
    int value = 0;
    if (cof_contains(from, to, '*'))
        return va_arg(*arguments, int);
    for (; from != to; from++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *from - '0', &value))
            return INT32_MAX;
    return value;
}

static struct layout layout_of(const struct conversion *c, va_list *arguments) {
    struct layout l = {
        .left = cof_contains(c->flags, c->width, '-'),
        .zeros = cof_contains(c->flags, c->width, '0'),
        .alternate = cof_contains(c->flags, c->width, '#'),
        .plus = cof_contains(c->flags, c->width, '+')   ? "+"
                : cof_contains(c->flags, c->width, ' ') ? " "
                                                        : "",
    };
    l.width = number(c->width, c->precision, arguments);
    if (l.width < 0) {
        l.left = 1;
        l.width = l.width == INT32_MIN ? INT32_MAX : -l.width;
    }
    l.precision = c->precision == c->length ? -1 : number(c->precision + 1, c->length, arguments);
    l.precision = l.precision < 0 ? -1 : l.precision;
    return l;
}

/* The parts of a number's text, in this order; `zeros` is a count. */
struct parts {
    char sign[4];
    char *digits;
    int zeros;
    char exponent[8];
};

static void put_exponent(char *to, char letter, int exponent, int digits) {
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent), unit = 1;
    *to++ = letter;
    *to++ = exponent < 0 ? '-' : '+';
    for (; --digits > 0 || size / unit >= 10;)
        unit *= 10;
    for (; unit; unit /= 10)
        *to++ = (char)('0' + size / unit % 10);
    *to = 0;
}

/* As `%a` has it, rounded to even. */
static void hexadecimal(struct parts *p, double value, const struct layout *l) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS & 0x7ff), precision = l->precision;
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
    digits = precision < 0 || precision > HEX_DIGITS ? digits : precision;
    char *to = p->digits;
    *to++ = (char)('0' + (fraction >> FRACTION_BITS));
    if (digits > 0 || l->alternate)
        *to++ = '.';
    for (int i = 1; i <= digits; i++)
        *to++ = "0123456789abcdef"[fraction >> (HEX_DIGITS - i) * DIGIT_BITS & 15];
    *to = 0;
    p->zeros = precision > HEX_DIGITS ? precision - HEX_DIGITS : 0;
    put_exponent(p->exponent, 'p', exponent, 1);
}

/* With so many places, and an exponent or none; the exponent's value. */
static int decimal(struct parts *p, double value, int exponent, int places, int alternate, size_t room) {
    int known = places < MOST_PLACES ? places : MOST_PLACES, ten = 0;
    size_t length = cof_number_write(value, exponent, (uint32_t)known, p->digits, room - 2);
    p->zeros = places - known;
    p->digits[length] = 0;
    char *at = strchr(p->digits, 'e');
    if (exponent && at) {
        const char *digit = at[1] == '-' ? at + 2 : at + 1;
        for (; *digit; digit++)
            ten = ten * 10 + (*digit - '0');
        ten = at[1] == '-' ? -ten : ten;
        put_exponent(p->exponent, 'e', ten, 2);
        length = (size_t)(at - p->digits);
    }
    strcpy(p->digits + length, places == 0 && alternate ? "." : "");
    return ten;
}

/* As `%g` has it: whichever is shorter, and without zeros at the end. */
static void general(struct parts *p, double value, const struct layout *l, size_t room) {
    int digits = l->precision < 0 ? 6 : l->precision == 0 ? 1 : l->precision;
    int ten = decimal(p, value, 1, digits - 1, l->alternate, room);
    if (ten >= -4 && ten < digits) {
        decimal(p, value, 0, digits - 1 - ten, l->alternate, room);
        p->exponent[0] = 0;
    }
    if (l->alternate || !strchr(p->digits, '.'))
        return;
    p->zeros = 0;
    char *end = p->digits + strlen(p->digits);
    while (end[-1] == '0')
        end--;
    end[-(end[-1] == '.')] = 0;
}

static void capitals(char *text) {
    for (; *text; text++)
        *text = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;
}

/* Bytes that the digits of a number may take. */
static size_t room_for(double value, char letter, int precision) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS & 0x7ff) - BIAS + 1;
    size_t room = 32 + (size_t)(precision < 0 ? 6 : precision < MOST_PLACES ? precision : MOST_PLACES);
    return room + ((letter | 0x20) == 'f' && exponent > 0 ? (size_t)exponent * 3 / 10 : 0);
}

static void number_text(struct parts *p, double value, char letter, const struct layout *l, size_t room) {
    char small = (char)(letter | 0x20);
    strcpy(p->sign, signbit(value) ? "-" : l->plus);
    p->zeros = 0;
    p->exponent[0] = 0;
    int places = l->precision < 0 ? 6 : l->precision;
    if (!isfinite(value))
        strcpy(p->digits, isnan(value) ? "nan" : "inf");
    else if (small == 'a')
        strcat(p->sign, "0x"), hexadecimal(p, value, l);
    else if (small == 'g')
        general(p, value, l, room);
    else
        decimal(p, value, small == 'e', places, l->alternate, room);
    if (letter != small)
        capitals(p->sign), capitals(p->digits), capitals(p->exponent);
}

static void put_number(struct rewriting *r, const struct parts *p, const struct layout *l, int finite) {
    size_t length = strlen(p->sign) + strlen(p->digits) + (size_t)p->zeros + strlen(p->exponent);
    int pad = (size_t)l->width > length ? l->width - (int)length : 0, zeros = l->zeros && finite && !l->left;
    put_blanks(r, l->left || zeros ? 0 : pad);
    put_string(r, p->sign);
    put_zeros(r, zeros ? pad : 0);
    put_string(r, p->digits);
    put_zeros(r, p->zeros);
    put_string(r, p->exponent);
    put_blanks(r, l->left ? pad : 0);
}

/* The argument of an integer conversion, narrowed as `hh` asks. */
static uint64_t integer(const struct conversion *c, va_list *arguments, int *is_double) {
    *is_double = c->size == LONG_LONG || c->size == INTMAX || c->size == WIDE_DOUBLE;
    if (*is_double)
        return va_arg(*arguments, uint64_t);
    uint32_t value = va_arg(*arguments, uint32_t);
    if (c->size == CHAR)
        value = strchr("di", c->letter) ? (uint32_t)(signed char)value : (unsigned char)value;
    else if (c->size == SHORT)
        value = strchr("di", c->letter) ? (uint32_t)(short)value : (unsigned short)value;
    return value;
}

static void put_value(struct rewriting *r, uint64_t value, int is_double, char letter) {
    if (is_double) {
        r->format = stpcpy(r->format, "ll");
        put_double_word(r, value);
    } else {
        put_word(r, (uint32_t)value);
    }
    *r->format++ = letter;
}

/* `%#o`, of which a library prints the zero of 0 not at all if it is asked for no digits. */
static void put_octal(struct rewriting *r, const struct conversion *c, va_list *arguments) {
    struct layout l = layout_of(c, arguments);
    int is_double;
    uint64_t value = integer(c, arguments, &is_double);
    *r->format++ = '%';
    r->format = stpcpy(r->format, value ? "#" : "");
    r->format = stpcpy(r->format, l.left ? "-" : l.zeros && l.precision < 0 ? "0" : "");
    *r->format++ = '*';
    put_word(r, (uint32_t)l.width);
    if (l.precision >= 0) {
        r->format = stpcpy(r->format, ".*");
        put_word(r, (uint32_t)(value || l.precision ? l.precision : 1));
    }
    put_value(r, value, is_double, 'o');
}

/* A conversion that the library understands by another length. */
static void put_conversion(struct rewriting *r, const struct conversion *c, va_list *arguments) {
    *r->format++ = '%';
    for (const char *at = c->flags; at != c->length; at++) {
        if (*at != '\'')
            *r->format++ = *at;
        if (*at == '*')
            put_word(r, va_arg(*arguments, uint32_t));
    }
    if (strchr("diuoxX", c->letter)) {
        int is_double;
        uint64_t value = integer(c, arguments, &is_double);
        put_value(r, value, is_double, c->letter);
        return;
    }
    if (c->letter != '%')
        put_word(r, va_arg(*arguments, uint32_t));
    if (c->letter == 'n')
        r->format = stpcpy(r->format, c->size == INTMAX || c->size == LONG_LONG ? "ll" : c->size == SHORT ? "h" : "");
    *r->format++ = c->letter;
}

static int rewritten(cof_printer *print, void *to, const char *format, va_list arguments, size_t count) {
    struct conversion c;
    char *text = alloca(strlen(format) + count * MOST_LETTERS + 1);
    char *values = alloca(count * MOST_WORDS * sizeof(uint32_t) + 8);
    values = (char *)(((uintptr_t)values + 7) & ~(uintptr_t)7);
    struct rewriting r = {text, values};
    for (const char *at = format, *end; *at; at = end) {
        end = cof_next_conversion(at, &c);
        if (!end || !c.letter) {
            put_text(&r, at, at + strlen(at));
            break;
        }
        put_text(&r, at, c.flags - 1);
        if (is_number(c.letter)) {
            struct layout l = layout_of(&c, &arguments);
            double value = va_arg(arguments, double);
            size_t room = room_for(value, c.letter, l.precision);
            struct parts *p = alloca(sizeof *p);
            p->digits = alloca(room);
            number_text(p, value, c.letter, &l, room);
            put_number(&r, p, &l, isfinite(value));
        } else if (c.letter == 'o' && cof_contains(c.flags, c.width, '#')) {
            put_octal(&r, &c, &arguments);
        } else {
            put_conversion(&r, &c, &arguments);
        }
    }
    *r.format = 0;
    va_list list;
    memcpy(&list, &values, sizeof list);
    return print(to, text, list);
}

int cof_print(cof_printer *print, void *to, const char *format, va_list arguments) {
    size_t count;
    switch (judge(format, &count)) {
    case KNOWN:
        return print(to, format, arguments);
    case REWRITE:
        return rewritten(print, to, format, arguments, count);
    default:
        errno = ENOSYS;
        return EOF;
    }
}
