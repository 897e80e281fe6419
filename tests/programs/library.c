/* Tries the C library's edges, as docs/your-program.md describes them, and says WRONG where it is otherwise. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "tried.h"

static void formats(void) {
    PRINTS("5 -3 7", "%zu %td %jd", (size_t)5, (ptrdiff_t)-3, (intmax_t)7);
    PRINTS("18446744073709551615 -9223372036854775808", "%llu %lld", UINT64_MAX, INT64_MIN);
    PRINTS("-1 ff 44 0x7f", "%hhd %hhx %hhd %#hhx", 255, -1, 300, 0x17f);
    PRINTS("65535 -1", "%hu %hd", 0x1ffff, 0xffff);
    PRINTS("1|   2|3   |004", "%zu|%*zu|%-4zu|%.3zu", (size_t)1, 4, (size_t)2, (size_t)3, (size_t)4);
    PRINTS("1.5 2.250000 3e+10 text c 100% 1", "%g %f %.0e %s %c %d%% %zu", 1.5, 2.25, 3e10, "text", 'c', 100,
           (size_t)1);
    PRINTS("0x1.8p+0 -0x1p-1 0x0p+0 0X1.FP+3", "%a %a %a %A", 1.5, -0.5, 0.0, 15.5);
    PRINTS("0x1.0p+0 0x1.8p+0 0x2p+0 0x1p+0", "%.1a %.1a %.0a %.0a", 1.0, 1.5, 1.75, 1.25);
    PRINTS("inf -nan|  0x1p+1|0x1p+1  |0x001p+1|+0x1p+1", "%a %a|%8a|%-8a|%08a|%+a", INFINITY, -NAN, 2.0, 2.0, 2.0,
           2.0);
    PRINTS("0x1.fffffffffffffp+1023 0x0.0000000000001p-1022", "%a %a", 0x1.fffffffffffffp+1023, 0x1p-1074);
    PRINTS("INF 1.000000", "%F %F", (double)INFINITY, 1.0);
    PRINTS("123456789", "%'d", 123456789);
    FAILS(strcmp(print("%ls", L"wide"), "length") == 0, ENOSYS);
    /* Rounded half to even from the exact value, and every digit of it. */
    PRINTS("0 2 0.12 0.2", "%.0f %.0f %.2f %.1f", 0.45, 2.5, 0.125, 0.25);
    PRINTS("0.1000000000000000055511151231257827 4.941e-324", "%.34f %.3e", 0.1, 0x1p-1074);
    PRINTS("100000 123456 1.23457e+06 0.0001 1e-05", "%g %g %g %g %g", 99999.96, 123456.0, 1234567.0, 1e-4, 1e-5);
    PRINTS("-1.50|  +1.5|001.5|1.5  |1.|1.00000|0", "%.2f|%+6.1f|%05.1f|%-5.1f|%#.0f|%#g|%g", -1.5, 1.5, 1.5, 1.5, 1.0,
           1.0, 0.0);
    PRINTS("0x1.80000000000000000p+0 -0x1p+0|nan|0 010 00010", "%.17a %a|%a|%#.0o %#o %#.5o", 1.5, -1.0, NAN, 0, 8, 8);
    PRINTS("  inf|-INF ", "%5f|%-5G", (double)INFINITY, -(double)INFINITY);
    HOLDS(snprintf(NULL, 0, "%.1080f", 0x1p-1074) == 1082 && snprintf(NULL, 0, "%f", 1e308) == 316);
}

/* The compiler knows the lengths of such formats, and must not put them in the place of what the library says. */
static void refusals(void) {
    char room[16];
    signed char count = 9;
    FAILS(snprintf(room, sizeof room, "abc%hhn", &count) < 0 && count == 9, ENOSYS);
    FAILS(snprintf(room, sizeof room, "abc%lc", (wint_t)L'x') < 0, ENOSYS);
    FAILS(sprintf(room, "abc%ls", L"xy") < 0, ENOSYS);
}

static void scans(void) {
    size_t size = 0;
    intmax_t large = 0;
    signed char bytes[3] = {1, 2, 3};
    float value = 0;
    int integer = 0;
    char word[8];
    HOLDS(sscanf("77 -8 200 x", "%zu %jd %hhu %7[a-z]", &size, &large, (unsigned char *)&bytes[1], word) == 4);
    HOLDS(size == 77 && large == -8 && bytes[0] == 1 && bytes[1] == (signed char)200 && bytes[2] == 3);
    HOLDS(sscanf("2.5,9", "%a,%*zu", &value) == 1 && value == 2.5);
    char *end;
    HOLDS(strtod("0x1.8 ", &end) == 1.5 && *end == ' ' && strtod("-0x.8p+", &end) == -0.5 && *end == 'p');
    HOLDS(strtod("infinit", &end) == INFINITY && *end == 'i' && isnan(strtod("nan(1)", &end)) && !*end);
    HOLDS(strtod("1.00000000000000011102230246251565405", NULL) == 1.0000000000000002);
    HOLDS(strtof("1.00000005960464477540", NULL) == 1.0000001f && atof("9007199254740993") == 9007199254740992.0);
    FAILS(strtod("1e400", NULL) == HUGE_VAL, ERANGE);
    FAILS(strtod("1e-400", NULL) == 0, ERANGE);
    HOLDS(sscanf("  1.5e1x-7", "%f%c%d", &value, word, &integer) == 3 && value == 15 && *word == 'x' && integer == -7);
    HOLDS(sscanf("", "%d", &integer) == EOF);
    HOLDS(wcstod(L" 2.5x", NULL) == 2.5);
    HOLDS(strtod("0x1.8p1", NULL) == 3.0 && strtoull("18446744073709551615", NULL, 10) == UINT64_MAX);
    HOLDS(strtol(" -0xg", &end, 16) == 0 && *end == 'x' && strtoull("0X", &end, 0) == 0 && *end == 'X');
    HOLDS(strtol("0x1f", &end, 0) == 31 && !*end && strtol("0x1f", &end, 10) == 0 && *end == 'x');
    HOLDS(strtoul("z", &end, 36) == 35 && !*end && strtol(" +", &end, 16) == 0 && *end == ' ');
}

static volatile sig_atomic_t caught;

static void on_signal(int number) {
    caught = number;
}

static void files_and_processes(void) {
    struct stat status;
    char room[16];
    FAILS(!fopen("/etc/passwd", "r"), ENOENT);
    FAILS(!fopen("new", "w"), EROFS);
    FAILS(!tmpfile(), EROFS);
    FAILS(remove("a") == -1, ENOENT);
    FAILS(rename("a", "b") == -1, ENOENT);
    FAILS(stat("a", &status) == -1, ENOENT);
    FAILS(write(7, "x", 1) == -1, EBADF);
    FAILS(read(7, room, 1) == -1, EBADF);
    FAILS(!getcwd(room, sizeof room), ENOSYS);
    FAILS(access("a", 0) == -1, ENOSYS);
    FAILS(fork() == -1, ENOSYS);
    FAILS(execv("a", (char *[]){NULL}) == -1, ENOSYS);
    FAILS(wait(NULL) == -1, ECHILD);
    FAILS(system("ls") == -1, ENOSYS);
    HOLDS(system(NULL) == 0);
    HOLDS(getpid() == 1 && getchar() == EOF && feof(stdin) && !getenv("HOME"));
    HOLDS(isatty(1) && fstat(1, &status) == 0 && S_ISCHR(status.st_mode));
    FAILS(!isatty(9), ENOTTY);
    FAILS(kill(2, SIGTERM) == -1, ESRCH);
    FAILS(sbrk(64) == (void *)-1, ENOMEM);
    HOLDS(signal(SIGUSR1, on_signal) == SIG_DFL && raise(SIGUSR1) == 0 && caught == SIGUSR1);
    HOLDS(signal(SIGUSR2, on_signal) == SIG_DFL && kill(getpid(), SIGUSR2) == 0 && caught == SIGUSR2);
    HOLDS(signal(SIGTERM, SIG_IGN) == SIG_DFL && raise(SIGTERM) == 0);
    HOLDS(sysconf(_SC_CLK_TCK) == CLOCKS_PER_SEC && sysconf(_SC_NPROCESSORS_ONLN) == 1);
}

static double seconds(const struct timespec *from, const struct timespec *to) {
    return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

static void times_and_sleeps(void) {
    struct timespec resolution, first, second, then;
    HOLDS(clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0 && resolution.tv_nsec <= 100);
    HOLDS(clock_gettime(CLOCK_MONOTONIC, &first) == 0);
    HOLDS(usleep(1500) == 0 && clock_gettime(CLOCK_MONOTONIC, &second) == 0);
    HOLDS(seconds(&first, &second) >= 1.5e-3 && seconds(&first, &second) < 15e-3);
    then = (struct timespec){0, 2000000};
    clock_t before = clock();
    HOLDS(nanosleep(&then, NULL) == 0);
    HOLDS(CLOCKS_PER_SEC == 1000000 && clock() - before >= 2000 && clock() - before < 15000);
    then.tv_nsec = 1000000000;
    FAILS(nanosleep(&then, NULL) == -1, EINVAL);
    FAILS(clock_gettime((clockid_t)2, &then) == -1, EINVAL);
    FAILS(clock_settime(CLOCK_REALTIME, &then) == -1, ENOSYS);
    HOLDS(sleep(0) == 0 && time(NULL) < 100);
    struct timeval day;
    HOLDS(gettimeofday(&day, NULL) == 0 && day.tv_sec < 100 && day.tv_usec < 1000000);
}

static void memory(void) {
    FAILS(!malloc(1 << 20), ENOMEM);
    FAILS(!calloc(1 << 16, 1 << 16), ENOMEM);
    char *block = malloc(1000);
    HOLDS(block && (block = realloc(block, 2000)) && (uintptr_t)block % 8 == 0);
    free(block);
    for (volatile size_t align = 0; align < 100; align++) {
        int valid = align && !(align & (align - 1));
        errno = 0;
        void *aligned = aligned_alloc(align, 8), *other = memalign(align, 8), *third = NULL;
        HOLDS(!aligned == !valid && !other == !valid && errno == (valid ? 0 : EINVAL));
        HOLDS((posix_memalign(&third, align, 8) == 0) == (valid && align >= sizeof(void *)));
        HOLDS(!valid || ((uintptr_t)aligned % align == 0 && (uintptr_t)other % align == 0));
        free(aligned);
        free(other);
        free(third);
    }
}

static void others(char **argv, int argc) {
    jmp_buf place;
    HOLDS(argc == 4 && strcmp(argv[0], "program") == 0 && strcmp(argv[1], "first") == 0 && !*argv[2]);
    HOLDS(strcmp(argv[3], "two words") == 0 && !argv[4]);
    argv[1][0] = 'F';
    if (setjmp(place) == 0)
        longjmp(place, 1);
    HOLDS(setlocale(LC_ALL, "C") && toupper('a') == 'A' && towupper(L'a') == L'A' && wcslen(L"abc") == 3);
    HOLDS(fabs(pow(2, 0.5) - sqrt(2)) < 1e-15);
}

__attribute__((destructor)) static void last(void) {
    puts("all was tried");
}

static void at_exit(void) {
    HOLDS(write(1, "", 0) == 0);
}

int main(int argc, char **argv) {
    formats();
    formats_of_the_library();
    refusals();
    scans();
    files_and_processes();
    times_and_sleeps();
    memory();
    others(argv, argc);
    atexit(at_exit);
    exit(3);
}
