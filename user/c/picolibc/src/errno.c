/* How the heap, which knows of no library of C, finds `errno`: each thread has its own. */
#include <errno.h>

int *__errno(void);

int *__errno(void) {
    return &errno;
}
