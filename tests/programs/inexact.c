/* Compares functions of <math.h> whose results are rounded with numbers that mpmath 1.3 computed with 2500 bits, rounded to doubles: a small error is a
 * library's own; a large one shows that something is wrong, such as another function that it calls. All arguments are floats, too. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Wrong results are those that lie further off, in units of the last digit. */
enum { MOST_OFF = 8 };

#define ONE(call, x, result) {#call, call, call##f, NULL, NULL, x, 0, result}
#define TWO(call, x, y, result) {#call, NULL, NULL, call, call##f, x, y, result}

/* What the compiler may read from here again is nothing that it can compute itself. */
static volatile struct {
    const char *name;
    double (*one)(double);
    float (*one_f)(float);
    double (*two)(double, double);
    float (*two_f)(float, float);
    double x, y, result;
} table[] = {
    ONE(exp, 0x1p+0, 0x1.5bf0a8b145769p+1), ONE(exp, -0x1.4p-2, 0x1.769652df22f7ep-1),
    ONE(exp, 0x1.48p+4, 0x1.7d6c4f0bcdd5cp+29), ONE(exp, -0x1.4p+6, 0x1.7fd974d372e45p-116),
    ONE(exp, 0x1.5ep+9, 0x1.d945df4f8ec8ep+1009), ONE(exp2, 0x1.4p-2, 0x1.3dea64c123422p+0),
    ONE(exp2, -0x1.58p+3, 0x1.306fe0a31b715p-11), ONE(exp2, 0x1.92p+6, 0x1.6a09e667f3bcdp+100),
    ONE(expm1, 0x1.4f8b58p-17, 0x1.4f8bc5f3970f2p-17), ONE(expm1, -0x1.8p-1, -0x1.0e25f8a081941p-1),
    ONE(expm1, 0x1.ep+4, 0x1.370470aec26edp+43), ONE(log, 0x1p-1, -0x1.62e42fefa39efp-1),
    ONE(log, 0x1.1p+0, 0x1.f0a30c01162a6p-5), ONE(log, 0x1.8p+1, 0x1.193ea7aad030bp+0),
    ONE(log, 0x1.93e594p+99, 0x1.144f6a00a27fbp+6), ONE(log2, 0x1.8p+1, 0x1.95c01a39fbd68p+0),
    ONE(log2, 0x1.cp-1, -0x1.8a8980abfbd32p-3), ONE(log2, 0x1.5af1d8p+66, 0x1.09c11660b11a9p+6),
    ONE(log10, 0x1.cp+2, 0x1.b0b0b0b78cc3fp-1), ONE(log10, 0x1p-2, -0x1.34413509f79ffp-1),
    ONE(log10, 0x1.4484cp-100, -0x1.dfffffffa15c6p+4), ONE(log1p, 0x1.0c6f7ap-20, 0x1.0c6f713433a29p-20),
    ONE(log1p, -0x1p-1, -0x1.62e42fefa39efp-1), ONE(log1p, 0x1.9p+6, 0x1.275e2271bba31p+2),
    ONE(sin, 0x1p-1, 0x1.eaee8744b05fp-2), ONE(sin, 0x1.8p+1, 0x1.210386db6d55bp-3),
    ONE(sin, -0x1.9p+6, 0x1.03425b78c4db8p-1), ONE(sin, 0x1.e848p+19, -0x1.6664b2568d867p-2),
    ONE(sin, 0x1.0f0cfp+73, -0x1.77d988f563719p-1), ONE(sin, 0x1.93e594p+99, -0x1.95135fcc7c53cp-1),
    ONE(cos, 0x1p-1, 0x1.c1528065b7d5p-1), ONE(cos, 0x1p+1, -0x1.aa22657537205p-2),
    ONE(cos, 0x1.63p+9, 0x1.fffffff06393p-1), ONE(cos, 0x1.00000cp+21, -0x1.224d71b4863f1p-1),
    ONE(cos, 0x1.0f0cfp+73, 0x1.5baded759a40dp-1), ONE(tan, 0x1.8p-1, 0x1.dcfa36110eeecp-1),
    ONE(tan, 0x1p+2, 0x1.2866f9be4de13p+0), ONE(tan, -0x1.86ap+16, 0x1.250a9d503313dp-5),
    ONE(tan, 0x1.c6bf52p+49, 0x1.2e08d69d3263ep+3), ONE(asin, 0x1.4p-2, 0x1.457393b90e2aap-2),
    ONE(asin, -0x1.cp-1, -0x1.10c066d3e6932p+0), ONE(acos, 0x1.4p-2, 0x1.40c2d055ff46ep+0),
    ONE(acos, -0x1.cp-1, 0x1.51700e0c14b25p+1), ONE(atan, 0x1.cp-2, 0x1.a64eec3cc23fdp-2),
    ONE(atan, -0x1.8p+1, -0x1.3fc176b7a856p+0), ONE(atan, 0x1.2a05f2p+33, 0x1.921fb543d4dep+0),
    ONE(sinh, 0x1.cp-2, 0x1.ce6dd75bf0317p-2), ONE(sinh, -0x1.4p+2, -0x1.28d0166f07374p+6),
    ONE(sinh, 0x1.ep+4, 0x1.370470aec28edp+42), ONE(cosh, 0x1.cp-2, 0x1.18e4aea0b3f4ap+0),
    ONE(cosh, -0x1.4p+2, 0x1.28d6fcbeff3aap+6), ONE(cosh, 0x1.ep+4, 0x1.370470aec28edp+42),
    ONE(tanh, 0x1.cp-2, 0x1.a5729ee488037p-2), ONE(tanh, -0x1p+1, -0x1.ed9505e1bc3d4p-1),
    ONE(tanh, 0x1.ep+3, 0x1.ffffffffff96ap-1), ONE(asinh, 0x1.cp-2, 0x1.b2d0a9dc4fb36p-2),
    ONE(asinh, -0x1.e848p+19, -0x1.d046ec97fa3ccp+3), ONE(acosh, 0x1.4p+0, 0x1.62e42fefa39efp-1),
    ONE(acosh, 0x1.e848p+19, 0x1.d046ec97fa2b2p+3), ONE(atanh, 0x1.cp-2, 0x1.e064e0c92c396p-2),
    ONE(atanh, -0x1.ep-1, -0x1.b78ce48912b5ap+0), ONE(cbrt, 0x1p+1, 0x1.428a2f98d728bp+0),
    ONE(cbrt, -0x1.92p+6, -0x1.298e53bd7a9d4p+2), ONE(cbrt, 0x1.4484cp-100, 0x1.b7cdfda54885ep-34),
    ONE(erf, 0x1p-1, 0x1.0a7ef5c18edd2p-1), ONE(erf, -0x1.8p+0, -0x1.eea5557137aep-1),
    ONE(erf, 0x1.8p+1, 0x1.fffd1ac4135f9p-1), ONE(erfc, 0x1p-1, 0x1.eb02147ce245cp-2),
    ONE(erfc, 0x1.4p+1, 0x1.aab859b20ac9ep-12), ONE(erfc, -0x1p+0, 0x1.d7bb3d3a08445p+0),
    ONE(tgamma, 0x1p-1, 0x1.c5bf891b4ef6bp+0), ONE(tgamma, 0x1.2p+2, 0x1.74371e7866c65p+3),
    ONE(tgamma, 0x1.cp+2, 0x1.68p+9), ONE(tgamma, -0x1.8p+0, 0x1.2e7fb0bcdf4f2p+1),
    ONE(lgamma, 0x1p-1, 0x1.250d048e7a1bdp-1), ONE(lgamma, 0x1.cp+1, 0x1.3373018970a36p+0),
    ONE(lgamma, 0x1.91p+6, 0x1.6848d8e681f58p+8), ONE(lgamma, -0x1p-1, 0x1.43f89a3f0edd6p+0),
    TWO(pow, 0x1p+1, 0x1p-1, 0x1.6a09e667f3bcdp+0), TWO(pow, 0x1.4p+3, -0x1.4p+2, 0x1.4f8b588e368f1p-17),
    TWO(pow, -0x1.8p+1, 0x1.8p+1, -0x1.bp+4), TWO(pow, -0x1.8p+1, 0x1.000008p+21, -HUGE_VAL),
    TWO(pow, 0x1.000002p+0, 0x1.312dp+23, 0x1.a5a0bbc1d9cb9p+1), TWO(pow, 0x1p-1, -0x1.92p+6, 0x1.6a09e667f3bcdp+100),
    TWO(pow, -0x1.8p+0, -0x1.98p+5, -0x1.1f6634f101865p-30), TWO(pow, -0x1p+0, 0x1.c6bf52p+49, 0x1p+0),
    TWO(pow, -0x1p+0, 0x1.fffffp+20, -0x1p+0), TWO(pow, 0x1.cp+2, 0x1.4p+4, 0x1.1b7aa4b87e16ep+56),
    TWO(atan2, 0x1p+0, -0x1p+1, 0x1.56c6e7397f5aep+1), TWO(atan2, -0x1.8p+1, -0x1p-1, -0x1.bc66e44cbc074p+0),
    TWO(atan2, 0x1.b7cdfep-34, 0x1.4p+2, 0x1.5fd7fe6666666p-36), TWO(hypot, 0x1.8p+1, 0x1.4p+2, 0x1.752e50db3a3a2p+2),
    TWO(hypot, 0x1.5af1d8p+66, 0x1.4f8b58p-17, 0x1.5af1d8p+66),
};

static long long order(double value) {
    long long word;
    memcpy(&word, &value, sizeof word);
    return word < 0 ? INT64_MIN - word : word;
}
static long long order_of_float(float value) {
    int32_t word;
    memcpy(&word, &value, sizeof word);
    return word < 0 ? INT32_MIN - (long long)word : word;
}

static unsigned judge(const char *name, const char *size, double x, double y, double got, double expected, long long off) {
    if (!isnan(got) && llabs(off) <= MOST_OFF)
        return 0;
    printf("WRONG %s%s(%a, %a): %a, not %a, off by %lld\n", name, size, x, y, got, expected, off);
    return 1;
}

unsigned values(void) {
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *name = table[i].name;
        double x = table[i].x, y = table[i].y, expected = table[i].result;
        double got = table[i].one ? table[i].one(x) : table[i].two(x, y);
        wrong += judge(name, "", x, y, got, expected, order(got) - order(expected));
        float narrow = table[i].one ? table[i].one_f((float)x) : table[i].two_f((float)x, (float)y);
        long long off = order_of_float(narrow) - order_of_float((float)expected);
        wrong += judge(name, "f", x, y, (double)narrow, (double)(float)expected, off);
    }
    return wrong;
}
