/* Start of a domain written in C: memory is initialised by the kernel, so what is left are the
 * constructors, arguments, main and destructors. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

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

/* By this C++ tells the destructors of shared objects apart; a domain is one object. */
void *const __dso_handle = (void *)&__dso_handle;

/* The constructors have run. */
volatile uint32_t cof_begun;

static void run(const initialiser *first, const initialiser *end) {
    for (; first != end; first++)
        (*first)();
}

/* The arguments are the lines of the constant file `arguments`, if the manifest gives the domain one. They are copied,
 * for a program may write to them. */
static size_t copy_arguments(const struct cof_area *file, char *text) {
    size_t bytes = strnlen((const char *)(uintptr_t)file->base, file->bytes), count = 0;
    memcpy(text, (const char *)(uintptr_t)file->base, bytes);
    if (bytes > 0 && text[bytes - 1] != '\n')
        text[bytes++] = '\n';
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == '\n';
    return count;
}

/* Every thread of a program with constructors comes here before its entry, and the first one runs them, on its own
 * stack and budget. A thread that comes while another one does waits for it; a gate that is called meanwhile answers
 * with COF_E_BAD_STATE (begin.S). */
void cof_start(const uint32_t *info, uint32_t restarts) {
    static uint32_t starting;
    if (cof_begun)
        return;
    if (__atomic_exchange_n(&starting, 1, __ATOMIC_ACQUIRE)) {
        while (!cof_begun)
            cof_sleep_until(cof_time_now() + COF_WAIT_TICKS(cof_ticks_per_second()));
        return;
    }
    cof_begin(info, restarts);
    cof_prepare_exit();
    run(__preinit_array_start, __preinit_array_end);
    run(__init_array_start, __init_array_end);
    cof_begun = 1;
}

COF_ENTRY __attribute__((noreturn)) void __cofferdam_entry(const uint32_t *info, uint32_t argument, uint32_t restarts) {
    struct cof_area file = {0};
    (void)argument;
    cof_start(info, restarts);
    if (cof_area("arguments", &file) != 0)
        file.bytes = 0;
    char *text = alloca(file.bytes + 1);
    size_t count = copy_arguments(&file, text);
    char **argv = alloca((count + 2) * sizeof *argv);
    argv[0] = (char *)cof_name();
    for (size_t i = 1; i <= count; i++) {
        argv[i] = text;
        text = strchr(text, '\n');
        *text++ = 0;
    }
    argv[count + 1] = 0;
    exit(main((int)count + 1, argv));
}
