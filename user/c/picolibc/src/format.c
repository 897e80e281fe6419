/* picolibc 1.8 prints and reads some conversions of C99 wrongly and in silence: it takes a long double for a double,
 * and has neither wide characters nor `%n` of printf nor `%a` of scanf. The linker leads each printf and scanf of the
 * library through here (--wrap). A format with one of them is refused (ENOSYS), but for `%a`, which is read as `%f`. */
#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio-bufio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conversion.h"

/* `letters`: conversions that are refused whatever they convert. */
static int served(const char *format, const char *letters) {
    struct conversion c;
    while ((format = cof_next_conversion(format, &c)) && c.letter)
        if (c.size == WIDE_DOUBLE || cof_is_wide(&c) || strchr(letters, c.letter))
            return 0;
    return 1;
}

static int refuse(void) {
    errno = ENOSYS;
    return EOF;
}

int __real_vfprintf(FILE *, const char *, va_list);
int __wrap_vfprintf(FILE *file, const char *format, va_list arguments) {
    if (!served(format, "n"))
        return refuse();
    int length = __real_vfprintf(file, format, arguments);
    /* Text about errors is written at once, though each character alone would be a call. */
    if (file->flags & __SBUF && ((struct __file_bufio *)file)->fd == STDERR_FILENO)
        fflush(file);
    return length;
}

int __real_vfscanf(FILE *, const char *, va_list);
int __wrap_vfscanf(FILE *file, const char *format, va_list arguments) {
    struct conversion c;
    if (!served(format, ""))
        return refuse();
    char *known = strcpy(alloca(strlen(format) + 1), format);
    for (const char *next = known; (next = cof_next_conversion(next, &c)) && c.letter;)
        if (c.letter == 'a' || c.letter == 'A')
            known[next - known - 1] = 'f';
    return __real_vfscanf(file, known, arguments);
}
