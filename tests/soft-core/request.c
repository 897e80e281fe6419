/* rt_malloc in constant time, in C: two envelopes, each used up, exceeded, and given back. */
#include <stdio.h>

#include "cofferdam.h"
#include "cofferdam_memory.h"

enum { MOST = 8, STEP = 1024 };

static void *blocks[2][MOST];

static void try_one(const char *name, void **held, size_t bytes, uint32_t spec) {
    int count = 0, wrong = 0;
    struct rt_bound bound;
    char text[200];
    for (; count < MOST && (held[count] = rt_malloc(bytes, spec)); count++)
        for (size_t at = 0; at < bytes; at += STEP)
            *((volatile unsigned char *)held[count] + at) = (unsigned char)(count + 1);
    rt_refusal_text(text, sizeof text);
    for (int i = 0; i < count; i++)
        for (size_t at = 0; at < bytes; at += STEP)
            wrong += *((volatile unsigned char *)held[i] + at) != i + 1;
    int unknown = rt_query(held[0], &bound);
    printf("%s: %d blocks, %d wrong, query %d: %lu, method %lu; %s\n", name, count, wrong, unknown,
           (unsigned long)bound.spec, (unsigned long)bound.method, text);
}

static void give_back(const char *name, void **held) {
    int status = 0;
    for (int i = 0; i < MOST && held[i]; i++)
        status |= rt_free(held[i]);
    printf("%s: freed %d, twice %d\n", name, status, rt_free(held[0]));
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    try_one("first", blocks[0], 16384, RT_CONSTANT_TIME);
    try_one("second", blocks[1], 4096, RT_CONSTANT_TIME | RT_INDEPENDENT);
    give_back("first", blocks[0]);
    give_back("second", blocks[1]);
    void *again = rt_malloc(16384, RT_CONSTANT_TIME);
    printf("again: %s\n", again == blocks[0][0] ? "the same" : "another");
    uint32_t bits;
    cof_wait(cof_cap("done", COF_KIND_NOTIFICATION), 1, &bits);
    // The run ends with this domain, and the console has not printed all yet.
    cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 4);
    return rt_free(again);
}
