/* Records what a program allocates, releases and touches: preloaded, it is the program's malloc. record.py compiles and
 * uses it.
 *
 * A block of a page and more begins with a page. Pages appear at their first touch, by userfaultfd, so that a touch by
 * a system call is one, too. Smaller blocks count as touched when they are made. No address is used twice, so that a
 * page is never two blocks'. The record is text, in the file descriptor that COFFERDAM_RECORD names:
 *
 *   a NUMBER BYTES     a block, with the next number
 *   f NUMBER           it is released
 *   t NUMBER PAGE      the first touch of a page of it, counted from its beginning
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, HEAD = 32 };
static const size_t SPACE = (size_t)1 << 38;

/* Before each block; of a large one at the end of the page before it. */
struct head {
    uint64_t number, bytes;
};

static char *space, *next;
/* For each page, the large block that it is part of, and its place there; the number is one more. */
static uint32_t *owner, *within;
static uint64_t count;
static int out = -1, faults = -1;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/* Blocks that are made before everything is ready, which are not recorded. */
static char early[1 << 20] __attribute__((aligned(64)));
static size_t early_used;
static int is_ready, is_starting;

static struct head *head_of(void *block) {
    return (struct head *)((char *)block - HEAD);
}

static int is_early(void *block) {
    return (char *)block >= early && (char *)block < early + sizeof early;
}

static char *number(char *to, uint64_t value) {
    char digits[24];
    int length = 0;
    do
        digits[length++] = (char)('0' + value % 10);
    while (value /= 10);
    *to++ = ' ';
    while (length)
        *to++ = digits[--length];
    return to;
}

static void note(char what, uint64_t first, uint64_t second, int numbers) {
    char line[64], *end = line;
    if (out < 0)
        return;
    *end++ = what;
    end = number(end, first);
    if (numbers > 1)
        end = number(end, second);
    *end++ = '\n';
    int saved = errno;
    if (write(out, line, (size_t)(end - line)) < 0)
        out = -1;
    errno = saved;
}

/* Whoever touches a page waits until it is there. */
static void *serve(void *unused) {
    struct uffd_msg message;
    while (read(faults, &message, sizeof message) == sizeof message) {
        if (message.event != UFFD_EVENT_PAGEFAULT)
            continue;
        uint64_t at = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
        size_t page = (size_t)(at - (uint64_t)space) / PAGE;
        if (owner[page])
            note('t', owner[page] - 1, within[page], 2);
        struct uffdio_zeropage zero = {.range = {.start = at, .len = PAGE}};
        ioctl(faults, UFFDIO_ZEROPAGE, &zero);
    }
    return unused;
}

static void *lazily(size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void begin(void) {
    is_starting = 1;
    char *name = getenv("COFFERDAM_RECORD");
    space = lazily(SPACE);
    owner = lazily(SPACE / PAGE * 4);
    within = lazily(SPACE / PAGE * 4);
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register all = {.range = {.start = (uint64_t)space, .len = SPACE},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
    pthread_t server;
    if (!name || faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &all) ||
        pthread_create(&server, NULL, serve, NULL)) {
        static const char why[] = "record: no descriptor is named, or there is no userfaultfd\n";
        _exit(write(2, why, sizeof why - 1) < 0 ? 126 : 125);
    }
    next = space;
    out = atoi(name);
    is_ready = 1;
}

static void *make_early(size_t bytes, size_t align) {
    uintptr_t at = ((uintptr_t)early + early_used + HEAD + align - 1) & ~(uintptr_t)(align - 1);
    early_used = at + bytes - (uintptr_t)early;
    if (early_used > sizeof early)
        _exit(124);
    head_of((void *)at)->bytes = bytes;
    return (void *)at;
}

static void *make(size_t bytes, size_t align) {
    pthread_mutex_lock(&lock);
    if (align < 16)
        align = 16;
    if (!is_starting)
        begin();
    if (!is_ready) {
        void *block = make_early(bytes, align);
        pthread_mutex_unlock(&lock);
        return block;
    }
    uint64_t this = count++;
    if (bytes >= PAGE && align < PAGE)
        align = PAGE;
    char *block = (char *)(((uintptr_t)next + HEAD + align - 1) & ~(uintptr_t)(align - 1));
    next = block + bytes;
    if (bytes >= PAGE) {
        next = (char *)(((uintptr_t)next + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
        for (char *page = block; page < next; page += PAGE) {
            owner[(page - space) / PAGE] = (uint32_t)this + 1;
            within[(page - space) / PAGE] = (uint32_t)((page - block) / PAGE);
        }
    }
    *head_of(block) = (struct head){this, bytes};
    note('a', this, bytes, 2);
    pthread_mutex_unlock(&lock);
    return block;
}

void free(void *block) {
    if (!block || is_early(block))
        return;
    pthread_mutex_lock(&lock);
    note('f', head_of(block)->number, 0, 1);
    pthread_mutex_unlock(&lock);
}

void *malloc(size_t bytes) {
    return make(bytes, 16);
}

/* Pages are zeros at first. */
void *calloc(size_t number_of, size_t bytes) {
    size_t all;
    return __builtin_mul_overflow(number_of, bytes, &all) ? NULL : make(all, 16);
}

void *realloc(void *block, size_t bytes) {
    if (!block)
        return malloc(bytes);
    size_t held = head_of(block)->bytes;
    void *moved = malloc(bytes);
    memcpy(moved, block, held < bytes ? held : bytes);
    free(block);
    return moved;
}

int posix_memalign(void **to, size_t align, size_t bytes) {
    *to = make(bytes, align);
    return 0;
}

void *aligned_alloc(size_t align, size_t bytes) {
    return make(bytes, align);
}
void *memalign(size_t align, size_t bytes) {
    return make(bytes, align);
}
void *valloc(size_t bytes) {
    return make(bytes, PAGE);
}
size_t malloc_usable_size(void *block) {
    return block ? head_of(block)->bytes : 0;
}
