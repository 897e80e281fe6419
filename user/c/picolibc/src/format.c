/* picolibc 1.8 prints some conversions of C99 wrongly and in silence: it takes a long double for a double, has neither
 * wide characters nor `%n` of printf, and rounds numbers wrongly. The linker leads each printf through here (--wrap),
 * and user/c/src/format.c writes anew, or refuses, what picolibc would print wrongly. */
#include <stdarg.h>
#include <stdio-bufio.h>
#include <stdio.h>
#include <unistd.h>

#include "format.h"

int __real_vfprintf(FILE *, const char *, va_list);

static int print(void *to, const char *format, va_list arguments) {
    return __real_vfprintf(to, format, arguments);
}

int __wrap_vfprintf(FILE *file, const char *format, va_list arguments) {
    int length = cof_print(print, file, format, arguments);
    /* Text about errors is written at once, though each character alone would be a call. */
    if (file->flags & __SBUF && ((struct __file_bufio *)file)->fd == STDERR_FILENO)
        fflush(file);
    return length;
}
