/* Two threads and a gate of one domain: each has variables of its own, which begin as the program says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cofferdam.h"

enum { FIRST = 11, SECOND = 22, BEGUN = 7, ROUNDS = 3 };

static _Thread_local int counted = BEGUN;
static _Thread_local int zero;

static uint32_t named(const char *name) {
    return cof_cap(name, COF_KIND_NOTIFICATION);
}

static void meet(const char *theirs, const char *mine) {
    uint32_t bits;
    cof_signal(named(theirs), 1);
    cof_wait(named(mine), 1, &bits);
}

/* Each round the other thread has set its own in between. */
static void count(const char *who, int number, const char *theirs, const char *mine) {
    char text[] = "a,b,c";
    char *word = strtok(text, ",");
    int kept = counted == BEGUN && zero == 0;
    for (int round = 0; round < ROUNDS; round++) {
        errno = number + round;
        counted += number;
        zero += number;
        meet(theirs, mine);
        kept = kept && errno == number + round && counted == BEGUN + zero && zero == number * (round + 1);
        kept = kept && word && *word == 'a' + round;
        word = strtok(NULL, ",");
    }
    printf("%s: own %s\n", who, kept ? "kept" : "LOST");
    meet(theirs, mine);
}

COF_ENTRY void second(const uint32_t *info, uint32_t argument) {
    (void)info;
    count("second", argument == 5 ? SECOND : 0, "one", "two");
    cof_exit(0);
}

/* A call finds what the program says, whatever the last one left. */
COF_ENTRY uint64_t serve(uint32_t badge, uint32_t add, uint32_t unused1, uint32_t unused2) {
    (void)badge;
    (void)unused1;
    (void)unused2;
    counted += (int)add;
    zero += (int)add;
    errno = (int)add;
    return cof_reply(0, (uint32_t)(counted + zero));
}

int main(void) {
    count("first", FIRST, "two", "one");
    return 0;
}
