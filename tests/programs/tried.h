/* For programs that try the C library: each says WRONG where something is otherwise than expected. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Formats in which libraries of C differ. */
void formats_of_the_library(void);

#define HOLDS(truth) ((truth) ? (void)0 : (void)printf("WRONG line %d: %s (errno %d)\n", __LINE__, #truth, errno))
#define FAILS(call, why) (errno = 0, HOLDS((call) && errno == (why)))

__attribute__((unused)) static const char *print(const char *format, ...) {
    static char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return length == (int)strlen(text) ? text : "length";
}

#define PRINTS(expected, ...) HOLDS(strcmp(print(__VA_ARGS__), expected) == 0)
