/* Whole numbers beside a number. picolibc 1.8 loses a carry in `floor` and `ceil` from 2^20 on, and digits in `trunc` from 2^64 and in `truncf` from
 * 2^32 on. Its own functions (`pow`, `sin`, `lgamma`) take these, too, as a program's own functions of these names take their places. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define OWN __attribute__((weak))

OWN double trunc(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < 52)
        bits &= exponent < 0 ? 1ull << 63 : ~((1ull << (52 - exponent)) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

OWN float truncf(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 23 & 0xff) - 127;
    if (exponent < 23)
        bits &= exponent < 0 ? 1u << 31 : ~((1u << (23 - exponent)) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

OWN double floor(double x) {
    double part = trunc(x);
    return part > x ? part - 1 : part;
}

/* A result of zero keeps the sign. */
OWN double ceil(double x) {
    double part = trunc(x);
    return part < x ? part + 1 : part;
}
