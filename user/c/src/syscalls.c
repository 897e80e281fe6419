/* The system calls that a library of C needs, but for time (clock.c) and for those that are refused whatever
 * they are asked (refused.c); names.h says by which names the library calls them. Standard output and error go to the
 * console; there are no files, no other processes and no entropy. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cofferdam.h"
#include "names.h"

enum { SELF = 1, MICROSECONDS = 1000000 };

static int refuse(int why) {
    errno = why;
    KEEP(why);
    return -1;
}

/* In a gate a thread cannot end. There the kernel stops the domain for the instruction behind, which is none, instead
 * of the gate's caller waiting until the bound is used up. */
__attribute__((noreturn)) void _exit(int code) {
    cof_console_drain();
    cof_exit((uint32_t)code);
    __builtin_trap();
}

ssize_t SYSTEM(write)(int file, const void *bytes, size_t length) {
    if (file != 1 && file != 2)
        return refuse(EBADF);
    if ((ssize_t)length < 0)
        return refuse(EINVAL);
    return cof_console_write(bytes, length) == 0 ? (ssize_t)length : refuse(EIO);
}

ssize_t SYSTEM(read)(int file, void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    return file == 0 ? 0 : refuse(EBADF);
}

int SYSTEM(close)(int file) {
    (void)file;
    return refuse(EBADF);
}

off_t SYSTEM(lseek)(int file, off_t offset, int from) {
    (void)offset;
    (void)from;
    return file >= 0 && file <= 2 ? 0 : refuse(EBADF);
}

int SYSTEM(fstat)(int file, struct stat *status) {
    if (file < 0 || file > 2)
        return refuse(EBADF);
    status->st_mode = S_IFCHR;
    return 0;
}

int SYSTEM(isatty)(int file) {
    return file >= 0 && file <= 2 ? 1 : (refuse(ENOTTY), 0);
}

int SYSTEM(open)(const char *path, int flags, ...) {
    (void)path;
    return refuse(flags & O_CREAT ? EROFS : ENOENT);
}

int SYSTEM(stat)(const char *path, struct stat *status) {
    (void)path;
    (void)status;
    return refuse(ENOENT);
}

int SYSTEM(unlink)(const char *path) {
    (void)path;
    return refuse(ENOENT);
}

int SYSTEM(link)(const char *from, const char *to) {
    (void)from;
    (void)to;
    return refuse(ENOENT);
}

pid_t SYSTEM(getpid)(void) {
    return SELF;
}

pid_t SYSTEM(wait)(int *status) {
    (void)status;
    return refuse(ECHILD);
}

/* The heap is an area of its own, which does not grow. A program with an allocator of its own may have its own memory.
 */
__attribute__((weak)) void *SYSTEM(sbrk)(ptrdiff_t bytes) {
    (void)bytes;
    errno = ENOMEM;
    return (void *)-1;
}

long sysconf(int name) {
    return name == _SC_CLK_TCK                                            ? MICROSECONDS
           : name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 1
                                                                          : refuse(EINVAL);
}

int SYSTEM(getentropy)(void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    return refuse(ENOSYS);
}
