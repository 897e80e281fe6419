/* A handler that reaches a function through a pointer in data. */
#include <cofferdam.h>

static volatile unsigned count;

static void add(void) {
    count++;
}

static void (*volatile stored)(void) = add;

__attribute__((noinline)) static void step(void) {
    stored();
}

COF_ENTRY void fired(void) {
    step();
    count++;
}

int main(void) {
    return count > 0;
}
