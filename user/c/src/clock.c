/* Time and sleep for the C library. All clocks count from the boot, in the ticks of the board's clock; nothing tells a
 * domain the time of day, nor how long its own threads ran. */
#include <errno.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "cofferdam.h"
#include "names.h"

enum { MILLION = 1000000, BILLION = 1000000000 };

static int refuse(int why) {
    errno = why;
    return -1;
}

static uint64_t rate(void) {
    return cof_ticks_per_second();
}

static int known(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* Ticks as a number of parts of a second. */
static uint64_t parts(uint64_t ticks, uint64_t parts_per_second) {
    return ticks / rate() * parts_per_second + ticks % rate() * parts_per_second / rate();
}

static struct timespec timespec_of(uint64_t ticks) {
    return (struct timespec){(time_t)(ticks / rate()), (long)(ticks % rate() * BILLION / rate())};
}

/* Ticks that last at least as long, or as near to the end of time as a tick can be. */
static uint64_t ticks_of(const struct timespec *time) {
    if ((uint64_t)time->tv_sec >= UINT64_MAX / 2 / rate())
        return UINT64_MAX / 2;
    return (uint64_t)time->tv_sec * rate() + ((uint64_t)time->tv_nsec * rate() + BILLION - 1) / BILLION;
}

static int valid(const struct timespec *time) {
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < BILLION;
}

/* 0, or EPERM inside a gate, where nothing may block. */
static int sleep_until(uint64_t ticks) {
    return cof_sleep_until(ticks) == 0 ? 0 : EPERM;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!known(clock))
        return refuse(EINVAL);
    *time = timespec_of(cof_time_now());
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *resolution) {
    if (!known(clock))
        return refuse(EINVAL);
    if (resolution)
        *resolution = (struct timespec){0, (long)((BILLION + rate() - 1) / rate())};
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    (void)left;
    if (!known(clock) || !valid(time))
        return EINVAL;
    return sleep_until((flags & TIMER_ABSTIME ? 0 : cof_time_now() + 1) + ticks_of(time));
}

int nanosleep(const struct timespec *time, struct timespec *left) {
    int why = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    return why ? refuse(why) : 0;
}

int usleep(useconds_t microseconds) {
    struct timespec time = {(time_t)(microseconds / MILLION), (long)(microseconds % MILLION * 1000)};
    return nanosleep(&time, 0);
}

unsigned sleep(unsigned seconds) {
    struct timespec time = {(time_t)seconds, 0};
    return nanosleep(&time, 0) == 0 ? 0 : seconds;
}

int SYSTEM(gettimeofday)(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    uint64_t ticks = cof_time_now();
    time->tv_sec = (time_t)(ticks / rate());
    time->tv_usec = (suseconds_t)parts(ticks % rate(), MILLION);
    return 0;
}

/* All time counts as user time, in units of CLOCKS_PER_SEC. */
clock_t SYSTEM(times)(struct tms *times) {
    clock_t now = (clock_t)parts(cof_time_now(), CLOCKS_PER_SEC);
    *times = (struct tms){.tms_utime = now};
    return now;
}
