/* malloc in a demand area: blocks hold what was written while others come and go, and no more than the envelope. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 24, ROUNDS = 60, LARGEST = 12000 };

static struct {
    unsigned char *at;
    size_t bytes;
    unsigned char mark;
} blocks[BLOCKS];

static int holds(int i) {
    size_t step = blocks[i].bytes / 8 + 1;
    for (size_t at = 0; at < blocks[i].bytes; at += step)
        if (blocks[i].at[at] != blocks[i].mark)
            return 0;
    return 1;
}

static void fill(int i) {
    size_t step = blocks[i].bytes / 8 + 1;
    for (size_t at = 0; at < blocks[i].bytes; at += step)
        blocks[i].at[at] = blocks[i].mark;
}

int main(void) {
    int wrong = 0;
    uint32_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1664525u + 1013904223u;
        int i = (int)(random >> 24) % BLOCKS;
        size_t bytes = 1 + (random >> 8) % LARGEST;
        if (blocks[i].at) {
            wrong += !holds(i);
            if (round % 3 == 0) {
                size_t kept = bytes < blocks[i].bytes ? bytes : blocks[i].bytes;
                blocks[i].at = realloc(blocks[i].at, bytes);
                blocks[i].bytes = kept;
                wrong += !blocks[i].at || blocks[i].at[0] != blocks[i].mark;
            } else {
                free(blocks[i].at);
                blocks[i].at = malloc(bytes);
                wrong += !blocks[i].at;
            }
        } else {
            blocks[i].at = malloc(bytes);
            wrong += !blocks[i].at;
        }
        blocks[i].bytes = bytes;
        blocks[i].mark = (unsigned char)(round + 1);
        fill(i);
    }
    for (int i = 0; i < BLOCKS; i++)
        wrong += blocks[i].at && !holds(i);
    errno = 0;
    char *zeros = calloc(3000, 3);
    int clear = zeros && zeros[0] == 0 && zeros[8999] == 0, too_large = !malloc(1 << 20) && errno == ENOMEM;
    printf("%d wrong, calloc %s, too large %s\n", wrong, clear ? "clear" : "NOT", too_large ? "refused" : "NOT");
    return 0;
}
