/* scanf, as ISO C 7.21.6.2 has it. picolibc 1.8 reads numbers with a point, and `0x1.8` of `%a`, wrongly and in
 * silence. Wide characters and long doubles are refused (ENOSYS). A number of more letters than there is room for, or
 * an allocation (`%m`), is refused, too. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conversion.h"
#include "glue.h"

/* Letters of a floating-point number. */
enum { MOST_LETTERS = 255 };

/* Text that is read letter by letter: one is looked at before it is taken. */
struct input {
    FILE *file;
    int next;
    long long taken;
    int left; /* of the width of a conversion */
};

static int look(struct input *in) {
    return in->left > 0 ? in->next : EOF;
}

static int take(struct input *in) {
    int letter = in->next;
    in->next = getc(in->file);
    in->taken++;
    in->left--;
    return letter;
}

static void skip_blanks(struct input *in) {
    in->left = INT32_MAX;
    while (isspace(look(in)))
        take(in);
}

static void store(void *to, enum length size, uint64_t value) {
    size_t bytes = size == CHAR ? 1 : size == SHORT ? 2 : size == LONG_LONG || size == INTMAX ? 8 : 4;
    memcpy(to, &value, bytes);
}

static int digit_of(int letter) {
    return isdigit(letter) ? letter - '0' : isalpha(letter) ? tolower(letter) - 'a' + 10 : 99;
}

/* An integer as strtoll reads it; 0 if there is none. */
static int integer(struct input *in, int base, int is_signed, int wide, uint64_t *value) {
    int negative = look(in) == '-', digits = 0, overflow = 0;
    if (negative || look(in) == '+')
        take(in);
    if (look(in) == '0' && (base == 0 || base == 16)) {
        take(in);
        digits = 1;
        if (tolower(look(in)) == 'x') {
            take(in);
            digits = 0;
            base = 16;
        }
        base = base ? base : 8;
    }
    base = base ? base : 10;
    for (*value = 0; digit_of(look(in)) < base; digits++)
        overflow |= __builtin_mul_overflow(*value, (unsigned)base, value) ||
                    __builtin_add_overflow(*value, (unsigned)digit_of(take(in)), value);
    uint64_t most = wide ? UINT64_MAX : UINT32_MAX;
    if (is_signed)
        most = most / 2 + (unsigned)negative;
    if (overflow || *value > most) {
        errno = ERANGE;
        *value = most;
        negative &= is_signed;
    }
    if (negative)
        *value = -*value;
    return digits > 0;
}

/* Takes letters as long as they go on with a word; the count. */
static int word(struct input *in, char *to, const char *known) {
    int count = 0;
    for (; known[count] && tolower(look(in)) == known[count]; count++)
        to[count] = (char)take(in);
    return count;
}

/* Collects the longest beginning of a floating-point number: its length, or -1 if it is longer than there is room. */
static int collect(struct input *in, char *text) {
    int used = 0, digits = 0, point = 0, hexadecimal = 0;
    if (look(in) == '-' || look(in) == '+')
        text[used++] = (char)take(in);
    if (tolower(look(in)) == 'i')
        return used + word(in, text + used, "infinity");
    if (tolower(look(in)) == 'n')
        return used + word(in, text + used, "nan");
    if (look(in) == '0') {
        text[used++] = (char)take(in);
        digits = 1;
        if (tolower(look(in)) == 'x') {
            text[used++] = (char)take(in);
            hexadecimal = 1;
            digits = 0;
        }
    }
    for (; (hexadecimal ? isxdigit(look(in)) : isdigit(look(in))) || (look(in) == '.' && !point);) {
        point |= look(in) == '.';
        digits += look(in) != '.';
        if (used > MOST_LETTERS - 32)
            return -1;
        text[used++] = (char)take(in);
    }
    if (digits && tolower(look(in)) == (hexadecimal ? 'p' : 'e')) {
        text[used++] = (char)take(in);
        if (look(in) == '-' || look(in) == '+')
            text[used++] = (char)take(in);
        for (; isdigit(look(in)); text[used++] = (char)take(in))
            if (used >= MOST_LETTERS)
                return -1;
    }
    return used;
}

/* 1 if there was a number. One that only begins like a number, as `1e+`, or `infi`, is none. */
static int real(struct input *in, enum length size, void *to) {
    char text[MOST_LETTERS + 1];
    int used = collect(in, text);
    size_t taken;
    bool out_of_range;
    if (used < 0) {
        errno = ENOSYS;
        return 0;
    }
    text[used] = 0;
    double value = size == LONG ? cof_number_read(text, &taken, &out_of_range)
                                : (double)cof_number_read_single(text, &taken, &out_of_range);
    if (used == 0 || taken != (size_t)used)
        return 0;
    if (out_of_range)
        errno = ERANGE;
    float narrow = (float)value;
    if (to)
        memcpy(to, size == LONG ? (void *)&value : (void *)&narrow, size == LONG ? sizeof value : sizeof narrow);
    return 1;
}

/* Returns true if a letter is in a scan set, which lies between its bracket and its end. */
static int in_set(const char *set, const char *end, int letter) {
    int without = *set == '^', found = 0;
    set += without;
    for (const char *at = set; at < end; at++) {
        unsigned char from = (unsigned char)*at, to = from;
        if (at + 2 < end && at[1] == '-') {
            to = (unsigned char)at[2];
            at += 2;
        }
        found |= letter >= from && letter <= to;
    }
    return found != without;
}

/* Letters of `%c`, `%s` and `%[`; 1 if there were enough. */
static int letters(struct input *in, const struct conversion *c, char *to) {
    int count = 0, wanted = c->letter == 'c' ? in->left : 1;
    const char *set = strchr(c->length, '[');
    for (; look(in) != EOF; count++) {
        if (c->letter == 's' ? isspace(look(in)) : c->letter == '[' && !in_set(set + 1, c->end - 1, look(in)))
            break;
        char letter = (char)take(in);
        if (to)
            *to++ = letter;
    }
    if (to && c->letter != 'c' && count > 0)
        *to = 0;
    return count >= wanted;
}

static int convert(struct input *in, const struct conversion *c, void *to) {
    static const char bases[] = "d\12i\0u\12o\10x\20X\20p\20";
    uint64_t value;
    if (strchr("csS[", c->letter))
        return letters(in, c, to);
    if (strchr("aAeEfFgG", c->letter))
        return real(in, c->size, to);
    const char *base = memchr(bases, c->letter, sizeof bases - 1);
    if (!base || !integer(in, base[1], strchr("di", c->letter) != 0, c->size == LONG_LONG || c->size == INTMAX, &value))
        return 0;
    if (to)
        store(to, c->size, value);
    return 1;
}

/* Returns true if every part of a format is served. */
static int served(const char *format) {
    struct conversion c;
    while ((format = cof_next_conversion(format, &c)) && c.letter)
        if (c.size == WIDE_DOUBLE || cof_is_wide(&c) || cof_contains(c.flags, c.length, '$'))
            return 0;
    return 1;
}

/* The text between conversions: 0 when the input is another. */
static int literal(struct input *in, const char *from, const char *to) {
    for (; from < to; from++) {
        if (isspace((unsigned char)*from)) {
            skip_blanks(in);
            continue;
        }
        in->left = 1;
        if (look(in) != (unsigned char)*from)
            return 0;
        take(in);
    }
    return 1;
}

static int scan(struct input *in, const char *format, va_list *arguments) {
    struct conversion c;
    int found = 0;
    for (const char *at = format, *end; *at; at = end) {
        end = cof_next_conversion(at, &c);
        if (!literal(in, at, end ? c.flags - 1 : at + strlen(at)))
            return found == 0 && in->next == EOF ? EOF : found;
        if (!end || !c.letter)
            break;
        int skips = cof_contains(c.flags, c.length, '*'), width = 0;
        for (const char *digit = c.flags; digit < c.length; digit++)
            width = isdigit((unsigned char)*digit) && width < INT32_MAX / 10 ? width * 10 + (*digit - '0') : width;
        if (c.letter == 'n') {
            if (!skips)
                store(va_arg(*arguments, void *), c.size, (uint64_t)in->taken);
            continue;
        }
        if (!strchr("c[", c.letter))
            skip_blanks(in);
        if (in->next == EOF)
            return found ? found : EOF;
        if (c.letter == '%') {
            if (in->next != '%')
                return found;
            take(in);
            continue;
        }
        in->left = width ? width : c.letter == 'c' ? 1 : INT32_MAX;
        if (!convert(in, &c, skips ? 0 : va_arg(*arguments, void *)))
            return found == 0 && in->next == EOF && c.letter == 'c' ? EOF : found;
        found += !skips;
    }
    return found;
}

int __wrap_vfscanf(FILE *file, const char *format, va_list arguments) {
    if (!served(format)) {
        errno = ENOSYS;
        return EOF;
    }
    struct input in = {file, getc(file), 0, INT32_MAX};
    va_list own;
    va_copy(own, arguments);
    int found = scan(&in, format, &own);
    va_end(own);
    if (in.next != EOF)
        ungetc(in.next, file);
    return found;
}
