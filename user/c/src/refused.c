/* Functions of POSIX that libraries of C declare and do not have. Programs link, and are told ENOSYS when they call
 * one. A program's own function of the name takes its place. Functions that cannot fail, or would wait for something
 * that never comes, are left out: a program that needs one must not link. */
#include <errno.h>
#include <stddef.h>

#include "glue.h"
#include "names.h"

int cof_refused(void) {
    errno = ENOSYS;
    return -1;
}

void *cof_refused_pointer(void) {
    errno = ENOSYS;
    return NULL;
}

/* A domain's identity: one user, who is nobody's child. */
int cof_identity(void) {
    return 1;
}

/* By the assembler's name, so that the compiler's own ideas of these functions do not matter. */
#define ALIAS(function, type, name) NAMED(function, type, name)
#define NAMED(function, type, name)                                                                                    \
    extern type refused_##name(void) __asm__(#name) __attribute__((weak, alias(#function)));
#define REFUSED(name) ALIAS(cof_refused, int, name)
#define REFUSED_POINTER(name) ALIAS(cof_refused_pointer, void *, name)
#define IDENTITY(name) ALIAS(cof_identity, int, name)

/* Processes. */
REFUSED(fork)
REFUSED(vfork)
REFUSED(SYSTEM(execve))
REFUSED(execl)
REFUSED(execle)
REFUSED(execlp)
REFUSED(execv)
REFUSED(execvp)
REFUSED(waitpid)
REFUSED(killpg)
REFUSED(getrusage)
REFUSED(nice)
REFUSED(setpgid)
REFUSED(setsid)
REFUSED(setuid)
REFUSED(setgid)
IDENTITY(getppid)
IDENTITY(getpgrp)
IDENTITY(getuid)
IDENTITY(geteuid)
IDENTITY(getgid)
IDENTITY(getegid)
/* Signals from outside. */
REFUSED(sigaction)
REFUSED(sigprocmask)
REFUSED(sigpending)
REFUSED(setitimer)
REFUSED(getitimer)
REFUSED(timer_create)
REFUSED(timer_delete)
REFUSED(timer_settime)
REFUSED(timer_gettime)
/* Time of day. */
REFUSED(clock_settime)
REFUSED(settimeofday)
REFUSED(adjtime)
REFUSED(utimes)
/* Files and directories. */
REFUSED(access)
REFUSED(chdir)
REFUSED(chmod)
REFUSED(chown)
REFUSED(dup)
REFUSED(dup2)
REFUSED(fchmod)
REFUSED(fchown)
REFUSED(fdatasync)
REFUSED(flock)
REFUSED(fpathconf)
REFUSED(fsync)
REFUSED(ftruncate)
REFUSED(lockf)
REFUSED(mkdir)
REFUSED(mkfifo)
REFUSED(pathconf)
REFUSED(pipe)
REFUSED(pread)
REFUSED(pwrite)
REFUSED(readlink)
REFUSED(rmdir)
REFUSED(select)
REFUSED(symlink)
REFUSED(truncate)
REFUSED_POINTER(getcwd)
REFUSED_POINTER(popen)
REFUSED(pclose)
REFUSED_POINTER(realpath)
REFUSED_POINTER(ttyname)
/* Users and hosts. */
REFUSED(gethostname)
REFUSED_POINTER(getlogin)
REFUSED_POINTER(getpwnam)
REFUSED_POINTER(getpwuid)
REFUSED_POINTER(getgrnam)
REFUSED_POINTER(getgrgid)
