/* How printf's formats come to a library of C that does not know, or print right, all of C99. */
#ifndef COFFERDAM_FORMAT_H
#define COFFERDAM_FORMAT_H

#include <stdarg.h>

/* Prints with the library's own function, to whatever `to` is for it. */
typedef int cof_printer(void *to, const char *format, va_list arguments);

/* Leads a call of printf to `print`: as it is, or with a format and arguments that mean the same and that the library
 * prints right. Returns what `print` does; EOF, with ENOSYS, for a format that no library here can serve.
 * Stack: the text of each floating-point number in the format, and 64 bytes for each conversion. */
int cof_print(cof_printer *print, void *to, const char *format, va_list arguments);

#endif
