/* Functions of the system that only newlib asks for. */
#include <reent.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
#include <wchar.h>

#include "glue.h"

/* A program's own function of the name takes its place. */
#define OWN __attribute__((weak))

/* newlib has a function of POSIX in front of each of these, and programs may call either. */
int _fork(void) {
    return cof_refused();
}

int getentropy(void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    return cof_refused();
}

/* How newlib converts characters of Japanese locales; there is only "C". */
wint_t _jp2uc_l(wint_t character, void *locale) {
    (void)locale;
    return character;
}

wint_t _uc2jp_l(wint_t character, void *locale) {
    (void)locale;
    return character;
}

/* The other names of newlib for signals (user/c/src/signal.c), so that its own file is not linked. */
OWN int _raise_r(struct _reent *state, int number) {
    (void)state;
    return raise(number);
}

OWN _sig_func_ptr _signal_r(struct _reent *state, int number, _sig_func_ptr handler) {
    (void)state;
    return signal(number, handler);
}
