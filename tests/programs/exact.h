/* Floating-point numbers as integers: what functions of <math.h> must return, computed without a floating-point operation, in one of two formats. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef unsigned long long bits;

/* Digits of a number, the exponent of the last digit of the smallest numbers and of the largest ones, and the sign's place. */
static const struct format {
    int digits, least, most, sign;
} twice = {53, -1074, 971, 63}, single = {24, -149, 104, 31}, *format = &twice;

static bits sign_bit(void) { return 1ull << format->sign; }
static bits hidden(void) { return 1ull << (format->digits - 1); }
static bits magnitude(bits x) { return x & (sign_bit() - 1); }
static bits infinity_bits(void) { return (bits)(format->most - format->least + 2) << (format->digits - 1); }
static bool is_negative(bits x) { return (x & sign_bit()) != 0; }
static bool is_nan(bits x) { return magnitude(x) > infinity_bits(); }
static bool is_finite(bits x) { return magnitude(x) < infinity_bits(); }
static bool is_zero(bits x) { return magnitude(x) == 0; }
static bool is_subnormal(bits x) { return !is_zero(x) && magnitude(x) < hidden(); }
/* Orders numbers as their values; zeros are equal. */
static long long order(bits x) { return is_negative(x) ? -(long long)magnitude(x) : (long long)magnitude(x); }

/* The digits of a finite number, the first of which is no zero, and the exponent of the last one. */
static bits digits_of(bits x, int *exponent) {
    int field = (int)(magnitude(x) >> (format->digits - 1));
    bits digits = (x & (hidden() - 1)) | (field ? hidden() : 0);
    for (*exponent = format->least + (field ? field - 1 : 0); digits && digits < hidden(); digits <<= 1)
        --*exponent;
    return digits;
}

/* The number with these digits, the last of which has this exponent, and with a rest behind them or none; rounded half to even. */
static bits number_of(bool negative, bits digits, int exponent, bool rest) {
    bool half = false;
    for (; digits >> format->digits || (exponent < format->least && (digits || half)); digits >>= 1, exponent++)
        rest |= half, half = digits & 1;
    for (; digits && digits < hidden() && exponent > format->least; digits <<= 1)
        exponent--;
    if (half && (rest || (digits & 1)))
        digits++;
    if (digits >> format->digits)
        digits >>= 1, exponent++;
    bits x = digits < hidden() ? digits
             : exponent > format->most ? infinity_bits()
                                     : ((bits)(exponent - format->least + 1) << (format->digits - 1)) + digits - hidden();
    return x | (negative ? sign_bit() : 0);
}

enum rounding { DOWN, UP, TO_ZERO, HALF_EVEN, HALF_AWAY };

static bits whole(bits x, enum rounding how) {
    int exponent;
    bits digits = digits_of(x, &exponent), rest = 0, half = 1;
    if (!is_finite(x) || exponent >= 0)
        return x;
    /* From 62 digits behind the point on, all of a number is less than a half. */
    int behind = exponent < -62 ? 62 : -exponent;
    half <<= behind - 1;
    rest = exponent < -62 ? digits != 0 : digits & (2 * half - 1);
    digits = exponent < -62 ? 0 : digits >> behind;
    bool nearer = rest > half || (rest == half && (how == HALF_AWAY || digits & 1));
    if (how >= HALF_EVEN ? nearer : rest && how == (is_negative(x) ? DOWN : UP))
        digits++;
    return number_of(is_negative(x), digits, 0, false);
}

/* Whether an integer type with this largest value holds a number. */
static bool integer(bits x, long long most, long long *value) {
    int exponent;
    bits digits = digits_of(x, &exponent);
    if (!is_finite(x) || exponent + format->digits > 64)
        return false;
    bits all = exponent >= 0 ? digits << exponent : exponent > -64 ? digits >> -exponent : 0;
    *value = (long long)(is_negative(x) ? 0 - all : all);
    return all <= (bits)most + is_negative(x);
}

static bits behind_the_point(bits x) {
    int exponent;
    bits digits = digits_of(x, &exponent);
    if (is_nan(x) || exponent <= -format->digits)
        return x;
    bits rest = is_finite(x) && exponent < 0 ? digits & ((1ull << -exponent) - 1) : 0;
    return number_of(is_negative(x), rest, exponent, false);
}

static bits mantissa_of(bits x, int *exponent) {
    bits digits = digits_of(x, exponent);
    *exponent = digits ? *exponent + format->digits : 0;
    return is_finite(x) && digits ? number_of(is_negative(x), digits, -format->digits, false) : x;
}

static bits logarithm(bits x) {
    int exponent;
    mantissa_of(x, &exponent);
    if (!is_finite(x) || is_zero(x))
        return is_zero(x) ? infinity_bits() | sign_bit() : magnitude(x);
    return number_of(exponent < 1, (bits)(exponent < 1 ? 1 - exponent : exponent - 1), 0, false);
}

static bits scaled(bits x, int by) {
    int exponent;
    bits digits = digits_of(x, &exponent);
    return is_finite(x) ? number_of(is_negative(x), digits, exponent + by, false) : x;
}

static bits next(bits from, bits to) {
    if (is_nan(from) || is_nan(to) || order(from) == order(to))
        return is_nan(from) ? from : to;
    if (is_zero(from))
        return (to & sign_bit()) | 1;
    return (order(from) < order(to)) == is_negative(from) ? from - 1 : from + 1;
}

/* Digit by digit, as with pen and paper, and one digit more than the number has. */
static bits root(bits x) {
    int exponent;
    bits digits = digits_of(x, &exponent), found = 0, rest = 0;
    if (is_nan(x) || is_zero(x) || (is_negative(x) || !is_finite(x)))
        return is_zero(x) || !is_negative(x) ? x : infinity_bits() + 1;
    int pairs = format->digits + 3;
    digits <<= 64 - format->digits;
    exponent -= 64 - format->digits;
    if (exponent & 1)
        digits >>= 1, exponent++;
    for (int i = 0; i < pairs; i++, digits <<= 2) {
        rest = rest << 2 | digits >> 62;
        bits tried = found << 2 | 1;
        found = found << 1 | (rest >= tried);
        rest -= rest >= tried ? tried : 0;
    }
    return number_of(false, found, (exponent + 64) / 2 - pairs, rest != 0);
}

/* What is left of x after it was divided by y, towards zero or to the nearest; and the lowest digits of the quotient. */
static bits left(bits x, bits y, bool nearest, unsigned *quotient) {
    int of_x, of_y;
    bits rest = digits_of(x, &of_x), by = digits_of(y, &of_y);
    bool negative = is_negative(x);
    *quotient = 0;
    if (is_nan(x) || is_nan(y) || !is_finite(x) || is_zero(y))
        return infinity_bits() + 1;
    if (!is_finite(y) || is_zero(x) || of_x < of_y - 1)
        return x;
    if (of_x < of_y)
        by <<= 1, of_y--;
    for (int i = of_x - of_y;; i--, rest <<= 1) {
        *quotient = *quotient << 1 | (rest >= by);
        rest -= rest >= by ? by : 0;
        if (i == 0)
            break;
    }
    if (nearest && (2 * rest > by || (2 * rest == by && (*quotient & 1))))
        rest = by - rest, negative = !negative, ++*quotient;
    return number_of(rest ? negative : is_negative(x), rest, of_y, false);
}

/* Integers of 192 bits, the lowest ones first. */
static void up(bits *w) {
    w[2] = w[2] << 1 | w[1] >> 63;
    w[1] = w[1] << 1 | w[0] >> 63;
    w[0] <<= 1;
}
static void add(bits *w, const bits *v, bool negated) {
    bits carry = negated;
    for (int i = 0; i < 3; i++) {
        bits part = negated ? ~v[i] : v[i], sum = w[i] + part, all = sum + carry;
        carry = (sum < part) | (all < sum);
        w[i] = all;
    }
}

static bits sum_of_product(bits x, bits y, bits z) {
    int of_x, of_y, of_z;
    bits digits = digits_of(x, &of_x), factor = digits_of(y, &of_y), other[3] = {digits_of(z, &of_z)}, w[3] = {0};
    bool negative = is_negative(x) != is_negative(y), opposite = negative != is_negative(z);
    bool infinite = !is_finite(x) || !is_finite(y);
    if (is_nan(x) || is_nan(y) || is_nan(z) || (infinite && (is_zero(x) || is_zero(y) || (!is_finite(z) && opposite))))
        return infinity_bits() + 1;
    if (infinite || !is_finite(z))
        return infinite ? infinity_bits() | (negative ? sign_bit() : 0) : z;
    if (is_zero(x) || is_zero(y))
        return is_zero(z) && opposite ? 0 : z;
    for (int i = format->digits - 1; i >= 0; i--) {
        up(w);
        add(w, (bits[3]){factor >> i & 1 ? digits : 0}, false);
    }
    int exponent = of_x + of_y;
    if (is_zero(z))
        of_z = exponent;
    /* Of a summand that lies far below the other one only the sign counts. */
    if (of_z > exponent + 130)
        w[0] = 1, w[1] = 0, exponent = of_z - 130;
    if (of_z < exponent - 60)
        other[0] = 1, of_z = exponent - 60;
    for (; exponent > of_z; exponent--)
        up(w);
    for (; of_z > exponent; of_z--)
        up(other);
    add(w, other, opposite);
    if (w[2] >> 63) {
        negative = !negative;
        bits positive[3] = {0};
        add(positive, w, true);
        memcpy(w, positive, sizeof w);
    }
    if (!(w[0] | w[1] | w[2]))
        return 0;
    bool rest = false;
    for (; w[1] | w[2]; exponent++) {
        rest |= w[0] & 1;
        w[0] = w[0] >> 1 | w[1] << 63;
        w[1] = w[1] >> 1 | w[2] << 63;
        w[2] >>= 1;
    }
    return number_of(negative, w[0], exponent, rest);
}

static bits one(void) { return (bits)(2 - format->digits - format->least) << (format->digits - 1); }
static bits product_of(bits x, bits y) { return sum_of_product(x, y, 0); }
static bits difference(bits x, bits y) {
    if (is_nan(x) || is_nan(y))
        return infinity_bits() + 1;
    return order(x) <= order(y) ? 0 : sum_of_product(x, one(), y ^ sign_bit());
}

static bits random_bits(void) {
    static bits state = 20260; /* Marsaglia's xorshift. */
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
static int below(int most) { return (int)((random_bits() >> 8) % (bits)most); }
static bits random_number(int lowest, int highest) {
    return number_of(random_bits() & 1, random_bits() >> below(64), lowest + below(highest - lowest), false);
}

/* Numbers at which functions change their ways: around powers of two by quarters, or by the last digit; and the ends of the format. */
static bits edge(unsigned number) {
    static const int POWERS[] = {-1, 0, 1, 2, 19, 20, 21, 22, 23, 24, 30, 31, 32, 33, 51, 52, 53, 54, 62, 63, 64, 100};
    enum { COUNT = sizeof POWERS / sizeof *POWERS, STEPS = 9 };
    const bits ends[] = {0, 1, hidden() - 1, hidden(), infinity_bits() - 1, infinity_bits(), infinity_bits() + hidden() / 2};
    if (number < 14)
        return ends[number / 2] | (number & 1 ? sign_bit() : 0);
    number -= 14;
    int power = POWERS[number / STEPS % COUNT], step = (int)(number % STEPS) - 4;
    int shift = format->digits < power + 2 ? format->digits : power + 2;
    return number_of(number / STEPS / COUNT, (1ull << shift) + (bits)step, power - shift, false);
}
static unsigned edges(void) { return 14 + 22 * 9 * 2; }

static bits drawn(void) {
    bits x = random_bits() & (2 * sign_bit() - 1);
    switch (below(6)) {
    case 0: return edge((unsigned)below((int)edges()));
    case 1: return is_nan(x) ? x | hidden() / 2 : x;
    case 2: return random_number(-4, 4);
    case 3: return random_number(-90, 30);
    default: return number_of(x & 1, (1ull << below(63)) + random_bits() % 9 - 4, -below(4), false);
    }
}

/* A number that has something to do with another one: its neighbour, a simple part of it, or one of about its size. */
static bits near(bits x) {
    int exponent;
    bits digits = digits_of(x, &exponent), sign = random_bits() & sign_bit();
    if (!is_finite(x) || is_zero(x) || below(4) == 0)
        return below(2) ? x ^ sign : drawn();
    if (below(3) == 0)
        return number_of(sign, 1 + random_bits() % 9, exponent + format->digits - below(format->digits), false);
    if (below(2))
        return number_of(sign, digits * (1 + random_bits() % 3), exponent - below(4), false);
    return number_of(sign, (random_bits() >> (64 - format->digits)) | hidden(), exponent + 3 - below(30), false);
}
