/* How a program in C ends. newlib's exit calls what was registered; that destructors are is a start file's affair, and
 * the tool chain's own start files are not linked. */
#include <stdlib.h>

#include "glue.h"

typedef void (*destructor)(void);

extern const destructor __fini_array_start[];
extern const destructor __fini_array_end[];

/* newlib's exit calls these beside the arrays. */
void _init(void) {}
void _fini(void) {}

static void finish(void) {
    for (const destructor *next = __fini_array_end; next != __fini_array_start;)
        (*--next)();
}

void cof_prepare_exit(void) {
    atexit(finish);
}
