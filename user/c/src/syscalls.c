/* The system calls that newlib needs, but for time (clock.c) and for those that are refused whatever
 * they are asked (refused.c). Standard output and error go to the console; there are no files, no
 * other processes and no entropy. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "cofferdam.h"

enum { SELF = 1, BY_SIGNAL = 128, MICROSECONDS = 1000000 };

/* newlib: calls the handler of a signal; 1 when it has none. */
int __sigtramp(int signal);

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
    return file >= 0 && file <= 2 ? 1 : (refuse(ENOTTY), 0);
}

int _open(const char *path, int flags, int mode) {
    (void)path;
    (void)mode;
    return refuse(flags & O_CREAT ? EROFS : ENOENT);
}

int _stat(const char *path, struct stat *status) {
    (void)path;
    (void)status;
    return refuse(ENOENT);
}

int _unlink(const char *path) {
    (void)path;
    return refuse(ENOENT);
}

int _link(const char *from, const char *to) {
    (void)from;
    (void)to;
    return refuse(ENOENT);
}

/* Without a handler every signal ends the program, as a shell would report it. */
int _kill(int process, int signal) {
    if (process != SELF)
        return refuse(ESRCH);
    if (signal < 0 || signal >= NSIG)
        return refuse(EINVAL);
    if (signal != 0 && __sigtramp(signal) == 1)
        _exit(BY_SIGNAL + signal);
    return 0;
}

int _getpid(void) {
    return SELF;
}

int _wait(int *status) {
    (void)status;
    return refuse(ECHILD);
}

/* The heap is an area of its own, which does not grow. A program with an allocator of its own may have its own memory.
 */
__attribute__((weak)) void *_sbrk(ptrdiff_t bytes) {
    (void)bytes;
    errno = ENOMEM;
    return (void *)-1;
}

long sysconf(int name) {
    return name == _SC_CLK_TCK                                            ? MICROSECONDS
           : name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 1
                                                                          : refuse(EINVAL);
}

/* How newlib converts characters of Japanese locales; there is only "C". */
wint_t _jp2uc_l(wint_t character, void *locale) {
    (void)locale;
    return character;
}

wint_t _uc2jp_l(wint_t character, void *locale) {
    (void)locale;
    return character;
}

int _getentropy(void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    return refuse(ENOSYS);
}

int getentropy(void *bytes, size_t length) {
    return _getentropy(bytes, length);
}
