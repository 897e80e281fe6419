/* Functions of <math.h> whose results are exact, or rounded once, and that the libraries of C get wrong: `fma` is there a product and a sum, each rounded;
 * `llround` loses digits from 2^52 on; and `remquo` the sign and digits of a quotient. A program's own functions of these names take their places. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OWN __attribute__((weak))

enum { DIGITS = 53, LEAST = -1074, MOST = 971 };
#define HIDDEN (1ull << (DIGITS - 1))

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static double of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The digits of a finite number and the exponent of the last one. The first digit is no zero but where all are. */
static uint64_t digits_of(double value, int *exponent) {
    uint64_t bits = bits_of(value), digits = bits & (HIDDEN - 1);
    int field = (int)(bits >> 52 & 0x7ff);
    *exponent = LEAST + (field ? field - 1 : 0);
    digits |= field ? HIDDEN : 0;
    int zeros = digits ? __builtin_clzll(digits) - (64 - DIGITS) : 0;
    *exponent -= zeros;
    return digits << zeros;
}

OWN long long llround(double x) {
    int exponent;
    uint64_t digits = digits_of(x, &exponent);
    if (exponent > 63 - DIGITS) /* out of range, or the smallest of all integers */
        return (long long)x;
    if (exponent >= 0)
        digits <<= exponent;
    else
        digits = exponent < -DIGITS ? 0 : ((digits >> (-exponent - 1)) + 1) >> 1;
    return signbit(x) ? -(long long)digits : (long long)digits;
}

/* Integers of 128 bits, which a processor with words of 32 bits has no type for. */
struct wide {
    uint64_t high, low;
};

static struct wide product(uint64_t x, uint64_t y) {
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (uint32_t)middle;
    return (struct wide){x1 * y1 + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)(x0 * y0)};
}
static struct wide plus(struct wide x, struct wide y) {
    uint64_t low = x.low + y.low;
    return (struct wide){x.high + y.high + (low < y.low), low};
}
static struct wide negated(struct wide x) { return (struct wide){~x.high + (x.low == 0), 0 - x.low}; }

/* Without the last `by` digits; the last of the others is 1 if one of these was. */
static struct wide cut(struct wide x, int by) {
    if (by > 127)
        return (struct wide){0, (x.high | x.low) != 0};
    bool lost = false;
    if (by > 63)
        lost = x.low != 0, x = (struct wide){0, x.high}, by -= 64;
    if (by > 0) {
        lost |= x.low << (64 - by) != 0;
        x = (struct wide){x.high >> by, x.high << (64 - by) | x.low >> by};
    }
    x.low |= lost;
    return x;
}

/* The double next to a number that is not 0, rounded half to even. */
static double rounded(struct wide x, int exponent, bool negative) {
    int first = x.high ? 127 - __builtin_clzll(x.high) : 63 - __builtin_clzll(x.low);
    int behind = first - (DIGITS - 1) > LEAST - exponent ? first - (DIGITS - 1) : LEAST - exponent;
    /* With two digits more, at which the rounding looks. */
    struct wide kept = behind < 2 ? (struct wide){0, x.low << (2 - behind)} : cut(x, behind - 2);
    uint64_t digits = kept.low >> 2, rest = kept.low & 3;
    digits += rest > 2 || (rest == 2 && (digits & 1));
    exponent += behind;
    uint64_t bits = digits < HIDDEN ? digits : ((uint64_t)(exponent - LEAST + 1) << (DIGITS - 1)) + (digits - HIDDEN);
    bits = exponent > MOST ? bits_of(INFINITY) : bits;
    return of_bits(bits | (uint64_t)negative << 63);
}

OWN double fma(double x, double y, double z) {
    if (!isfinite(x) || !isfinite(y) || !isfinite(z))
        return isfinite(x) && isfinite(y) ? z : x * y + z;
    if (x == 0 || y == 0)
        return x * y + z;
    int of_x, of_y, of_z;
    bool negative = signbit(x) != signbit(y), differ = negative != (signbit(z) != 0);
    struct wide p = product(digits_of(x, &of_x), digits_of(y, &of_y)), other = {digits_of(z, &of_z) << 8, 0};
    /* Both begin at about bit 124, so that a sum has room, and what is cut off lies far below the digits that count. */
    enum { UP = 20, UP_Z = 72 };
    p = (struct wide){p.high << UP | p.low >> (64 - UP), p.low << UP};
    int exponent = of_x + of_y - UP, exponent_z = of_z - UP_Z;
    if (z == 0)
        exponent_z = exponent;
    int common = exponent > exponent_z ? exponent : exponent_z;
    p = cut(p, common - exponent);
    other = cut(other, common - exponent_z);
    struct wide sum = plus(p, differ ? negated(other) : other);
    if (sum.high >> 63)
        sum = negated(sum), negative = !negative;
    return sum.high | sum.low ? rounded(sum, common, negative) : 0.0;
}

/* The product of two floats is a double. The sum is rounded to an odd last digit, so that rounding it to a float is as if it were exact. */
OWN float fmaf(float x, float y, float z) {
    volatile double exact = (double)x * y, sum = exact + z, part = sum - exact;
    volatile double error = (exact - (sum - part)) + (z - part);
    uint64_t bits = bits_of(sum);
    if (isfinite(sum) && error != 0 && !(bits & 1))
        bits += (error < 0) == (sum < 0) ? 1 : -1ull;
    return (float)of_bits(bits);
}

/* The quotient's last three digits follow from what is left by eight times the divisor. `remainder` is no help: picolibc's `remainderl` calls `remquol`. */
#define REMQUO(type, f, to_integer)                                                                                    \
    OWN type remquo##f(type x, type y, int *quotient) {                                                                \
        *quotient = 0;                                                                                                 \
        if (!isfinite(x) || isnan(y) || y == 0)                                                                        \
            return (x * y) / (x * y);                                                                                  \
        type by = fabs##f(y), rest = fmod##f(fabs##f(x), by), most = fmod##f(fabs##f(x), 8 * by);                      \
        type scale = by > 1 ? (type)0.25 : 1; /* no sum overflows */                                                   \
        if (isfinite(by))                                                                                              \
            *quotient = (int)to_integer((most * scale - rest * scale) / (by * scale));                                 \
        if (rest > by - rest || (rest == by - rest && *quotient & 1))                                                  \
            rest -= by, ++*quotient;                                                                                   \
        *quotient &= 7;                                                                                                \
        if (!signbit(x) != !signbit(y))                                                                                \
            *quotient = -*quotient;                                                                                    \
        return signbit(x) ? -rest : rest;                                                                              \
    }
REMQUO(double, , lrint)
REMQUO(float, f, lrintf)
#if __LDBL_MANT_DIG__ > __DBL_MANT_DIG__
REMQUO(long double, l, lrintl)
#endif
