/* State of the library that each thread, and each call of a gate, has to itself: `errno`, the place of `strtok`, and
 * the exceptions of C++ that are in flight. newlib has one of each. Whose it is, the stack pointer tells: every thread
 * and every gate has a stack of its own, and the tool writes here where those end. So nothing is locked, and no thread
 * waits. */
#include <ctype.h>
#include <errno.h>
#include <reent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program's own function of the name takes its place. */
#define OWN __attribute__((weak))

/* Threads and gates with a state of their own; what a domain has beyond shares the last one. */
enum { MOST = 16 };

/* In ascending order (tools/place/src/start.rs). */
volatile uint32_t __cofferdam_stacks[MOST]
    __attribute__((section(".data.cofferdam_stacks"))) = {[0 ... MOST - 1] = UINT32_MAX};

static struct state {
    int why;
    char *token;
    /* What libsupc++ keeps of exceptions: those that are caught, the number of those that are not, and, on Arm, those
     * that go through a frame (__cxa_eh_globals; C++ ABI for the Arm Architecture, IHI 0041, section 4). */
    void *exceptions[3];
} states[MOST];

/* Bounded by MOST. A stack that a program has made itself is taken for that of a neighbour. */
static struct state *own(void) {
    uint32_t sp = (uint32_t)__builtin_frame_address(0);
    unsigned at = 0;
    while (at < MOST - 1 && sp >= __cofferdam_stacks[at])
        at++;
    return &states[at];
}

/* In newlib's own file there is nothing else. */
int *__errno(void) {
    return &own()->why;
}

/* As libsupc++ declares them; both are all of its own file. */
void *__cxa_get_globals(void);
void *__cxa_get_globals_fast(void);

OWN void *__cxa_get_globals(void) {
    return own()->exceptions;
}
OWN void *__cxa_get_globals_fast(void) {
    return own()->exceptions;
}

OWN char *strtok(char *restrict text, const char *restrict between) {
    return strtok_r(text, between, &own()->token);
}

/* newlib's prints the text of its own `errno`. */
OWN void perror(const char *text) {
    int why = errno;
    if (text && *text)
        fprintf(stderr, "%s: %s\n", text, strerror(why));
    else
        fprintf(stderr, "%s\n", strerror(why));
}

/* Of "0x" without a digit behind it the 0 is a number (ISO C11 7.22.1.4). newlib takes nothing of it. */
static const char *zero_alone(const char *text, int base) {
    while (isspace((unsigned char)*text))
        text++;
    text += *text == '+' || *text == '-';
    return (base == 0 || base == 16) && text[0] == '0' && (text[1] | 0x20) == 'x' ? text + 1 : NULL;
}

/* newlib's functions note an error in the state that they are given, of which they use nothing else. `errno` comes
 * first. */
_Static_assert(offsetof(struct _reent, _errno) == 0, "errno is the first of the state");
#define READER(type, name)                                                                                             \
    type _##name##_r(struct _reent *, const char *restrict, char **restrict, int);                                     \
    type __wrap_##name(const char *restrict text, char **restrict end, int base);                                      \
    type __wrap_##name(const char *restrict text, char **restrict end, int base) {                                     \
        char *seen = NULL; /* stays so for a base that there is not */                                                 \
        type value = _##name##_r((struct _reent *)&own()->why, text, &seen, base);                                     \
        const char *zero = seen == text ? zero_alone(text, base) : NULL;                                               \
        if (end && seen)                                                                                               \
            *end = zero ? (char *)zero : seen;                                                                         \
        return value;                                                                                                  \
    }
READER(long, strtol)
READER(unsigned long, strtoul)
READER(long long, strtoll)
READER(unsigned long long, strtoull)
