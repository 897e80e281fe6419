/* Compares every function of <math.h> whose result is exact with arithmetic of integers alone, in numbers of both sizes and, where they are a third
 * one, in long doubles. The arguments say how many numbers are drawn, and which of the edges are tried: each, or every so many. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

/* Counts wrong results of functions whose results are rounded (inexact.c). */
unsigned values(void);

enum { HOW_MANY_SHOWN = 2 };

/* The calls go through a pointer that the compiler cannot see through, so that it computes none of them itself. */
#define LIBRARY(f) ({ __typeof__(f) *volatile hidden = (f); hidden; })

static double wide(bits x) {
    double value;
    memcpy(&value, &x, sizeof value);
    return value;
}
static float narrow(bits x) {
    uint32_t word = (uint32_t)x;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
static bits of_wide(double value) {
    bits x;
    memcpy(&x, &value, sizeof x);
    return x;
}
static bits of_narrow(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* What is tried: doubles, floats, and long doubles that hold a double, whose exact results are doubles, too. */
static enum { WIDE, NARROW, LONG } size;
static bits x, y, z;
#define SIZES (LDBL_MANT_DIG > DBL_MANT_DIG ? 3 : 2)
static unsigned wrong;

static void show(const char *name, bits got, bits expected) {
    static struct {
        const char *name;
        unsigned wrong;
    } known[SIZES][128];
    unsigned at = 0;
    while (known[size][at].name && strcmp(known[size][at].name, name) != 0)
        at++;
    known[size][at].name = name;
    wrong++;
    if (known[size][at].wrong++ < HOW_MANY_SHOWN)
        printf("WRONG %s%s of %llx %llx %llx: %llx, not %llx\n", name, size == NARROW ? "f" : size == LONG ? "l" : "",
               x, y, z, got, expected);
}

static void compare(const char *name, bits got, bits expected) {
    if (got != expected && !(is_nan(got) && is_nan(expected)))
        show(name, got, expected);
}
static void compare_integers(const char *name, long long got, long long expected) {
    if (got != expected)
        show(name, (bits)got, (bits)expected);
}

/* A call's result in bits, or as it is, with arguments that W turns into numbers of a size. */
#define RESULT(call, ...) CHOOSE(of_narrow, of_wide, of_wide, call, __VA_ARGS__)
#define PLAIN(call, ...) CHOOSE(, , , call, __VA_ARGS__)
#if LDBL_MANT_DIG > DBL_MANT_DIG
#define CHOOSE(of_f, of_d, of_l, call, ...)                                                                               \
    (size == NARROW ? of_f(LIBRARY(call##f)(EACH(narrow, __VA_ARGS__)))                                                   \
     : size == WIDE ? of_d(LIBRARY(call)(EACH(wide, __VA_ARGS__)))                                                        \
                    : of_l(LIBRARY(call##l)(EACH(wide, __VA_ARGS__))))
#else
#define CHOOSE(of_f, of_d, of_l, call, ...)                                                                               \
    (size == NARROW ? of_f(LIBRARY(call##f)(EACH(narrow, __VA_ARGS__))) : of_d(LIBRARY(call)(EACH(wide, __VA_ARGS__))))
#endif
#define EACH(to, ...) PICK(__VA_ARGS__, EACH3, EACH2, EACH1)(to, __VA_ARGS__)
#define PICK(a, b, c, chosen, ...) chosen
#define EACH1(to, a) to(a)
#define EACH2(to, a, b) to(a), to(b)
#define EACH3(to, a, b, c) to(a), to(b), to(c)

#define SAME(call, expected, ...) compare(#call, RESULT(call, __VA_ARGS__), expected)

static void to_integers(void) {
    SAME(floor, whole(x, DOWN), x);
    SAME(ceil, whole(x, UP), x);
    SAME(trunc, whole(x, TO_ZERO), x);
    SAME(round, whole(x, HALF_AWAY), x);
    SAME(rint, whole(x, HALF_EVEN), x);
    SAME(nearbyint, whole(x, HALF_EVEN), x);
    long long expected;
    if (integer(whole(x, HALF_AWAY), LONG_MAX, &expected))
        compare_integers("lround", PLAIN(lround, x), expected);
    if (integer(whole(x, HALF_EVEN), LONG_MAX, &expected))
        compare_integers("lrint", PLAIN(lrint, x), expected);
    if (integer(whole(x, HALF_AWAY), LLONG_MAX, &expected))
        compare_integers("llround", PLAIN(llround, x), expected);
    if (integer(whole(x, HALF_EVEN), LLONG_MAX, &expected))
        compare_integers("llrint", PLAIN(llrint, x), expected);
}

/* Functions with a second result or an argument that is no floating-point number. */
#if LDBL_MANT_DIG > DBL_MANT_DIG
#define WITH(call, type, second)                                                                                          \
    (size == NARROW ? of_narrow(LIBRARY(call##f)(narrow(x), second))                                                      \
     : size == WIDE ? of_wide(LIBRARY(call)(wide(x), second))                                                             \
                    : of_wide(LIBRARY(call##l)(wide(x), second)))
#else
#define WITH(call, type, second)                                                                                          \
    (size == NARROW ? of_narrow(LIBRARY(call##f)(narrow(x), second)) : of_wide(LIBRARY(call)(wide(x), second)))
#endif

static void parts(void) {
    float narrow_part = 0;
    double wide_part = 0;
    bits fraction, part;
    int expected, exponent = 0;
    if (size == NARROW) {
        fraction = of_narrow(LIBRARY(modff)(narrow(x), &narrow_part));
        part = of_narrow(narrow_part);
#if LDBL_MANT_DIG > DBL_MANT_DIG
    } else if (size == LONG) {
        long double long_part = 0;
        fraction = of_wide(LIBRARY(modfl)(wide(x), &long_part));
        part = of_wide(long_part);
#endif
    } else {
        fraction = of_wide(LIBRARY(modf)(wide(x), &wide_part));
        part = of_wide(wide_part);
    }
    compare("modf", fraction, behind_the_point(x));
    compare("modf's part", part, whole(x, TO_ZERO));
    bits mantissa = mantissa_of(x, &expected);
    compare("frexp", WITH(frexp, int *, &exponent), mantissa);
    if (is_finite(x))
        compare_integers("frexp's exponent", exponent, expected);
    SAME(logb, logarithm(x), x);
    int ilogb_expected = is_nan(x) ? FP_ILOGBNAN : !is_finite(x) ? INT_MAX : is_zero(x) ? FP_ILOGB0 : expected - 1;
    compare_integers("ilogb", PLAIN(ilogb, x), ilogb_expected);
    int by = (int)(random_bits() % 4 ? random_bits() % 300 : random_bits() % 5000) - 150;
    by = random_bits() % 2 ? by : -by;
    z = (bits)by;
    compare("ldexp", WITH(ldexp, int, by), scaled(x, by));
    compare("scalbn", WITH(scalbn, int, by), scaled(x, by));
    compare("scalbln", WITH(scalbln, long, by), scaled(x, by));
    compare("scalbn by much", WITH(scalbn, int, by < 0 ? INT_MIN : INT_MAX), scaled(x, by < 0 ? -9999 : 9999));
    compare("scalbln by much", WITH(scalbln, long, by < 0 ? LONG_MIN : LONG_MAX), scaled(x, by < 0 ? -9999 : 9999));
    z = 0;
}

static void quotients(void) {
    unsigned low;
    SAME(fmod, left(x, y, false, &low), x, y);
    bits expected = left(x, y, true, &low), got;
    SAME(remainder, expected, x, y);
    int quotient = 0;
    if (size == NARROW)
        got = of_narrow(LIBRARY(remquof)(narrow(x), narrow(y), &quotient));
    else if (size == WIDE)
        got = of_wide(LIBRARY(remquo)(wide(x), wide(y), &quotient));
    else
        got = of_wide(LIBRARY(remquol)(wide(x), wide(y), &quotient));
    compare("remquo", got, expected);
    if (!is_nan(expected)) {
        compare_integers("remquo's quotient", abs(quotient) & 7, low & 7);
        compare_integers("remquo's sign", quotient != 0 && (quotient < 0) != (is_negative(x) != is_negative(y)), 0);
    }
}

static void of_two(void) {
    SAME(fabs, x & ~sign_bit(), x);
    SAME(copysign, (x & ~sign_bit()) | (y & sign_bit()), x, y);
    if (size != LONG)
        SAME(nextafter, next(x, y), x, y);
    SAME(fdim, difference(x, y), x, y);
    /* Of two zeros either may be the result. */
    if (!(is_zero(x) && is_zero(y))) {
        SAME(fmax, is_nan(x) || (!is_nan(y) && order(x) < order(y)) ? y : x, x, y);
        SAME(fmin, is_nan(x) || (!is_nan(y) && order(x) > order(y)) ? y : x, x, y);
    }
}

#define CLASS(what) (size == NARROW ? what(narrow(x)) : size == WIDE ? what(wide(x)) : what((long double)wide(x)))
static void classes(void) {
    bool small = size != LONG && is_subnormal(x), normal = is_finite(x) && !is_zero(x) && !small;
    int class = is_nan(x) ? FP_NAN : !is_finite(x) ? FP_INFINITE : is_zero(x) ? FP_ZERO : small ? FP_SUBNORMAL : FP_NORMAL;
    compare_integers("fpclassify", CLASS(fpclassify), class);
    compare_integers("isnan", CLASS(isnan) != 0, is_nan(x));
    compare_integers("isinf", CLASS(isinf) != 0, class == FP_INFINITE);
    compare_integers("isfinite", CLASS(isfinite) != 0, is_finite(x));
    compare_integers("isnormal", CLASS(isnormal) != 0, normal);
    compare_integers("signbit", CLASS(signbit) != 0, is_negative(x));
    if (size == NARROW)
        compare_integers("finite", LIBRARY(finitef)(narrow(x)) != 0, is_finite(x));
    if (size == WIDE)
        compare_integers("finite", LIBRARY(finite)(wide(x)) != 0, is_finite(x));
}

int main(int count, char **arguments) {
    unsigned draws = count > 1 ? (unsigned)atoi(arguments[1]) : 100, each = count > 2 ? (unsigned)atoi(arguments[2]) : 1;
    for (unsigned number = 0; number < edges() + draws; number += number < edges() ? each : 1) {
        for (size = WIDE; (int)size < SIZES; size++) {
            format = size == NARROW ? &single : &twice;
            x = number < edges() ? edge(number) : drawn();
            y = random_bits() % 4 ? near(x) : drawn();
            z = 0;
            to_integers();
            parts();
            SAME(sqrt, root(x), x);
            quotients();
            of_two();
            classes();
            z = random_bits() % 4 ? near(size == LONG ? x : product_of(x, y)) : drawn();
            if (size != LONG)
                SAME(fma, sum_of_product(x, y, z), x, y, z);
        }
    }
    wrong += values();
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
