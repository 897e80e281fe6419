/* The system calls that newlib needs. Standard output and error go to the console; there are no
 * files, no other processes, no entropy and no time of day: time counts from the boot. */
#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "cofferdam.h"

#undef errno
extern int errno;

enum { TICKS_PER_SECOND = 3, MICROSECONDS = 1000000 };

static int refuse(int why) {
    errno = why;
    return -1;
}

__attribute__((noreturn)) void _exit(int code) {
    for (;;)
        cof_exit((uint32_t)code);
}

int _write(int file, const char *bytes, int length) {
    if (file != 1 && file != 2)
        return refuse(EBADF);
    if (length < 0)
        return refuse(EINVAL);
    return cof_console_write(bytes, (size_t)length) == 0 ? length : refuse(EIO);
}

int _read(int file, char *bytes, int length) {
    (void)bytes;
    (void)length;
    return file == 0 ? 0 : refuse(EBADF);
}

int _close(int file) {
    (void)file;
    return refuse(EBADF);
}

int _lseek(int file, int offset, int from) {
    (void)offset;
    (void)from;
    return file >= 0 && file <= 2 ? 0 : refuse(EBADF);
}

int _fstat(int file, struct stat *status) {
    if (file < 0 || file > 2)
        return refuse(EBADF);
    status->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file) {
    return file >= 0 && file <= 2;
}

int _open(const char *path, int flags, int mode) {
    (void)path;
    (void)flags;
    (void)mode;
    return refuse(ENOENT);
}

int _kill(int process, int signal) {
    (void)process;
    (void)signal;
    return refuse(EINVAL);
}

int _getpid(void) {
    return 1;
}

int _getentropy(void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    return refuse(ENOSYS);
}

int getentropy(void *bytes, size_t length) {
    return _getentropy(bytes, length);
}

int _gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    uint64_t ticks = cof_time_now(), rate = cof_info()[TICKS_PER_SECOND];
    time->tv_sec = (time_t)(ticks / rate);
    time->tv_usec = (suseconds_t)(ticks % rate * MICROSECONDS / rate);
    return 0;
}

/* All time counts as user time, in units of CLOCKS_PER_SEC. */
clock_t _times(struct tms *times) {
    uint64_t ticks = cof_time_now(), rate = cof_info()[TICKS_PER_SECOND];
    clock_t now = (clock_t)(ticks / rate * CLOCKS_PER_SEC + ticks % rate * CLOCKS_PER_SEC / rate);
    times->tms_utime = now;
    times->tms_stime = 0;
    times->tms_cutime = 0;
    times->tms_cstime = 0;
    return now;
}
