/* Functions that picolibc declares and does not have, or has for its own heap, which is not linked. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "glue.h"

int rename(const char *from, const char *to) {
    (void)from;
    (void)to;
    errno = ENOENT;
    return -1;
}

int fcntl(int file, int command, ...) {
    (void)file;
    (void)command;
    return cof_refused();
}

void cfree(void *block) {
    free(block);
}
