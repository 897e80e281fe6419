/* The buffers of streams. newlib has one of standard output for the whole domain, and two threads that print at once,
 * or a thread and a gate that is called meanwhile, would each find the other's letters in it. So only a program of a
 * single thread has one; the others' text goes to the console as it is printed, from the printing thread's stack. */
#include <reent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Threads and gates of the domain: the tool writes their number here (tools/place/src/start.rs). */
volatile uint32_t __cofferdam_activations __attribute__((section(".data.cofferdam_activations"))) = 1;

enum { STANDARD_STREAMS = 3 };

/* newlib's function that writes what is left in buffers when the program ends. */
extern void _cleanup_r(struct _reent *);

/* Both functions of newlib's own file, so that it is not linked; what they do is what newlib's do, but for the domain
 * with several threads or gates. */
int __swhatbuf_r(struct _reent *state, FILE *file, size_t *bytes, int *could_be_terminal);
void __smakebuf_r(struct _reent *state, FILE *file);

int __swhatbuf_r(struct _reent *state, FILE *file, size_t *bytes, int *could_be_terminal) {
    (void)state;
    *bytes = BUFSIZ;
    *could_be_terminal = file->_file >= 0 && file->_file < STANDARD_STREAMS;
    return 0;
}

void __smakebuf_r(struct _reent *state, FILE *file) {
    int standard;
    size_t bytes;
    __swhatbuf_r(state, file, &bytes, &standard);
    int wants = !(file->_flags & __SNBF) && !(standard && __cofferdam_activations > 1);
    unsigned char *buffer = wants ? _malloc_r(state, bytes) : NULL;
    if (buffer) {
        state->__cleanup = _cleanup_r;
        file->_flags |= __SMBF | (standard ? __SLBF : 0);
    } else if (!(file->_flags & __SSTR)) {
        file->_flags = (file->_flags & ~__SLBF) | __SNBF;
        buffer = file->_nbuf;
        bytes = 1;
    }
    if (buffer) {
        file->_bf._base = file->_p = buffer;
        file->_bf._size = (int)bytes;
    }
}
