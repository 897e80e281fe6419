/* Start of a domain written in C: memory is initialised by the kernel, so what is left is constructors and main. */
#include <stdlib.h>

#include "cofferdam.h"
#include "glue.h"

/* The version of the interface that this run-time is made for: a note, which the tool reads in the finished program. */
static const uint32_t version[] __attribute__((used, section(COF_NOTE_SECTION))) = COF_NOTE;

typedef void (*initialiser)(void);

extern const initialiser __preinit_array_start[];
extern const initialiser __preinit_array_end[];
extern const initialiser __init_array_start[];
extern const initialiser __init_array_end[];

int main(int argc, char **argv);

/* newlib's exit calls these beside the arrays; the tool chain's own start files, which have them, are not linked. */
void _init(void) {}
void _fini(void) {}

static void run(const initialiser *first, const initialiser *end) {
    for (; first != end; first++)
        (*first)();
}

COF_ENTRY __attribute__((noreturn)) void __cofferdam_entry(const uint32_t *info, uint32_t argument, uint32_t restarts) {
    static char *argv[2];
    (void)argument;
    cof_begin(info, restarts);
    run(__preinit_array_start, __preinit_array_end);
    run(__init_array_start, __init_array_end);
    argv[0] = (char *)cof_name();
    exit(main(1, argv));
}
