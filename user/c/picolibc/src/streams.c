/* Standard input, output and error. picolibc leaves them to the program; its own functions buffer them. Output is
 * buffered by lines, that of errors, too: each character that is not would be a call of the console. */
#include <stdio-bufio.h>
#include <stdio.h>
#include <unistd.h>

#include "glue.h"

/* As long as the console's longest call. */
enum { LINE_BYTES = 256, STREAMS = 2 };

static char lines[STREAMS][LINE_BYTES];

/* Set by the first character, so that a program that never prints has nothing of this. */
static void (*end)(void);

static void flush(void) {
    __bufio_flush(stdout);
    __bufio_flush(stderr);
}

static int put(char letter, FILE *file) {
    end = flush;
    return __bufio_put(letter, file);
}

/* picolibc's own would allocate, also in a domain without a heap. */
static int set_buffer(FILE *file, char *buffer, int mode, size_t bytes) {
    struct __file_bufio *stream = (struct __file_bufio *)file;
    if (mode != _IOFBF && mode != _IOLBF && mode != _IONBF)
        return EOF;
    __bufio_flush(file);
    int own = !buffer || bytes == 0;
    stream->buf = own ? lines[stream->fd - 1] : buffer;
    stream->size = mode == _IONBF ? 1 : own ? LINE_BYTES : (int)bytes;
    stream->bflags = mode == _IOLBF ? __BLBF : 0;
    return 0;
}

static int finish(FILE *file) {
    __bufio_flush(file);
    return close(((struct __file_bufio *)file)->fd);
}

static int nothing(FILE *file) {
    (void)file;
    return _FDEV_EOF;
}

#define STREAM(number, get, put, flush, set_buffer, rights, buffer)                                                    \
    {                                                                                                                  \
        .xfile = FDEV_SETUP_EXT(put, get, flush, finish, __bufio_seek, set_buffer, (rights) | __SBUF), .fd = number,   \
        .bflags = __BLBF, .buf = buffer, .size = LINE_BYTES, .read = read, .write = write, .lseek = lseek,             \
        .close = close,                                                                                                \
    }

static struct __file_bufio input = STREAM(0, nothing, 0, 0, 0, _FDEV_SETUP_READ, 0);
static struct __file_bufio output = STREAM(1, 0, put, __bufio_flush, set_buffer, _FDEV_SETUP_WRITE, lines[0]);
static struct __file_bufio errors = STREAM(2, 0, put, __bufio_flush, set_buffer, _FDEV_SETUP_WRITE, lines[1]);

FILE *const stdin = &input.xfile.cfile.file;
FILE *const stdout = &output.xfile.cfile.file;
FILE *const stderr = &errors.xfile.cfile.file;

/* picolibc's exit calls the destructors itself, and this behind them. */
void _fini(void) {
    if (end)
        end();
}

void cof_prepare_exit(void) {}
