/* Functions of the system that only newlib asks for. */
#include <stddef.h>
#include <unistd.h>
#include <wchar.h>

#include "glue.h"

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
