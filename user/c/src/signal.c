/* Signals, which come from the domain itself alone, and `abort`. The libraries' own take memory for the handlers from a
 * heap (newlib, which without one lets `raise` return 0), and end with 1. Handlers are the domain's, as POSIX has it:
 * one word each, so that threads and gates may change them at any moment. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "glue.h"
#include "names.h"

enum { SELF = 1, BY_SIGNAL = 128 };

typedef void (*handler)(int);

/* By the number of the signal; null is SIG_DFL. */
static volatile handler handlers[NSIG];

_Static_assert(SIG_DFL == (handler)0, "signals have no handler at first");

/* A program's own functions of these names take their places. */
#define OWN __attribute__((weak))

OWN handler signal(int number, handler next) {
    if (number <= 0 || number >= NSIG || number == SIGKILL || number == SIGSTOP || next == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    handler before = handlers[number];
    handlers[number] = next;
    return before;
}

int SYSTEM(kill)(pid_t process, int number) {
    if (process != SELF || number < 0 || number >= NSIG) {
        errno = process != SELF ? ESRCH : EINVAL;
        return -1;
    }
    handler chosen = handlers[number];
    if (number == 0 || chosen == SIG_IGN)
        return 0;
    /* Without a handler every signal ends the thread, as a shell would report it. */
    if (chosen == SIG_DFL)
        _exit(BY_SIGNAL + number);
    handlers[number] = SIG_DFL;
    chosen(number);
    return 0;
}

OWN int raise(int number) {
    return SYSTEM(kill)(SELF, number);
}

OWN __attribute__((noreturn)) void abort(void) {
    raise(SIGABRT);
    _exit(BY_SIGNAL + SIGABRT);
}
