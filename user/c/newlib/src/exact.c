/* Functions of <math.h> with exact results that newlib 3.3 gets wrong: `modf` of what is no number, `fdim` of infinities, the last step of `scalbn` for
 * very large steps and of `scalbnf` into subnormal numbers, and `nextafter` from one zero to the other. A program's own functions of these names take
 * their places. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define OWN __attribute__((weak))

#define EACH(type, f, word)                                                                                            \
    OWN type modf##f(type x, type *part) {                                                                             \
        *part = trunc##f(x);                                                                                           \
        return isinf(x) ? copysign##f(0, x) : copysign##f(x - *part, x);                                               \
    }                                                                                                                  \
    OWN type fdim##f(type x, type y) { return isunordered(x, y) ? x + y : x > y ? x - y : 0; }                         \
    OWN type nextafter##f(type from, type to) {                                                                        \
        word bits, zero = 1;                                                                                           \
        if (isunordered(from, to))                                                                                     \
            return from + to;                                                                                          \
        if (from == to)                                                                                                \
            return to;                                                                                                 \
        memcpy(&bits, from == 0 ? &zero : (word *)(void *)&from, sizeof bits);                                         \
        bits += from == 0 ? 0 : (from < to) == (from > 0) ? 1 : (word)-1;                                              \
        type next;                                                                                                     \
        memcpy(&next, &bits, sizeof next);                                                                             \
        return from == 0 ? copysign##f(next, to) : next;                                                               \
    }
EACH(double, , uint64_t)
EACH(float, f, uint32_t)

/* In steps, because no double is so large or small as some powers of two. All but the last one are exact, or lead out of what the last one could bring
 * back: downwards each leaves 53 digits more than a double has room for, so that nothing is rounded twice. */
OWN double scalbn(double x, int by) {
    for (int i = 0; i < 2 && by > 1023; i++)
        x *= 0x1p1023, by -= 1023;
    for (int i = 0; i < 2 && by < -1022; i++)
        x *= 0x1p-969, by += 969;
    int last = by > 1023 ? 1023 : by < -1022 ? -1022 : by;
    uint64_t bits = (uint64_t)(last + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return x * power;
}
OWN float scalbnf(float x, int by) { return (float)scalbn(x, by); }
