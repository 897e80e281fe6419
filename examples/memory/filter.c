/* Reads the samples of the domain `sampler`, in C. */
#include <stdio.h>
#include <stdlib.h>

#include "cofferdam.h"
#include "cofferdam_memory.h"

enum { SAMPLES = 1000 };

static void refused(const char *what) {
    char text[400];
    rt_refusal_text(text, sizeof text);
    printf("%s %s\n", what, text);
}

static void tell(const char *what, const void *address) {
    static const char *const levels[] = {"best-effort", "l3", "l2", "l1", "deterministic"};
    struct rt_bound bound;
    int32_t unknown = rt_query(address, &bound);
    if (unknown == 0 && bound.method == 0)
        printf("%s: checked at %s without a bound\n", what, levels[bound.level]);
    else if (unknown == 0)
        printf("%s: checked at %s within %lu cycles\n", what, levels[bound.level], (unsigned long)bound.cycles);
    else
        printf("%s: not this domain's\n", what);
}

static uint32_t wait_for(const char *name) {
    uint32_t bits = 0;
    cof_wait(cof_cap(name, COF_KIND_NOTIFICATION), 1, &bits);
    return bits;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* Within the envelope. */
    uint32_t *window = rt_malloc(4096, RT_L2);
    if (!window)
        return refused("4096 bytes"), 1;
    tell("window", window);
    /* Plain malloc has the default specification. */
    void *plain = malloc(1000);
    tell("malloc", plain);
    free(plain);
    /* The name is the sampler's, although nobody has used it yet. */
    if (!rt_shmget("samples", SAMPLES * 4, 0, RT_L2, RT_READ | RT_WRITE | RT_ALL_READ))
        refused("samples of its own");
    wait_for("ready");
    /* Both have to want the same. */
    const uint32_t *samples = rt_shmget_of("sampler", "samples", SAMPLES * 4, RT_DETERMINISTIC, RT_READ);
    if (!samples)
        refused("samples");
    if (!rt_shmget_of("sampler", "samples", SAMPLES * 4, RT_L2, RT_READ | RT_WRITE))
        refused("samples to write");
    samples = rt_shmget_of("sampler", "samples", SAMPLES * 4, RT_L2, RT_READ);
    if (!samples)
        return refused("samples"), 1;
    tell("samples", samples);
    uint32_t sum = 0;
    for (int i = 0; i < SAMPLES; i++)
        sum += window[i % 1024] = samples[i];
    printf("the sum of %d samples is %lu\n", SAMPLES, (unsigned long)sum);
    cof_signal(cof_cap("taken", COF_KIND_NOTIFICATION), 1);
    wait_for("ready");
    tell("samples after they were revoked", samples);
    return rt_free(window);
}
