/* A handler with one ordinary mistake: which, the manifest says. */
#include <cofferdam.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint32_t count;

__attribute__((noinline)) static uint32_t sum(uint32_t of) {
    volatile uint32_t one = of;
    return of ? sum(of - 1) + one : 0;
}

__attribute__((noinline)) static uint32_t mean(void) {
    volatile uint32_t samples[500];
    for (int i = 0; i < 500; i++) samples[i] = i + count;
    return samples[count % 500];
}

COF_ENTRY void fired(void) {
    count++;
    if (MISTAKE == 1) count = (uint32_t)((float)count * 1.5f);
    if (MISTAKE == 2) printf("%lu\n", (unsigned long)count);
    if (MISTAKE == 3) { void *volatile block = malloc(count); free(block); }
    if (MISTAKE == 4) count = (uint32_t)(0x123456789abcULL / count);
    if (MISTAKE == 5) cof_signal(1, 1);
    if (MISTAKE == 6) count += mean();
    if (MISTAKE == 7) count += sum(count);
    if (MISTAKE == 8) abort();
    cof_wake();
}

int main(void) {
    return mean() > sum(3);
}
