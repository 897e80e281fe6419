/* Standard input, output and error, which picolibc leaves to the program. Each thread has lines of its own, so that
 * none waits for another, or mixes its text with another's. Output of errors is buffered by lines, too: each character
 * that is not would be a call of the console. */
#include <stdio-bufio.h>
#include <stdio.h>
#include <unistd.h>

#include "glue.h"

/* As long as the console's longest call. */
enum { LINE_BYTES = 256, STREAMS = 2 };

static _Thread_local struct line {
    size_t length;
    char text[LINE_BYTES];
} lines[STREAMS];

/* Set by the first character, so that a program that never prints has nothing of this. */
static void (*end)(void);

static int number_of(FILE *file) {
    return ((struct __file_bufio *)file)->fd;
}

static int flush(FILE *file) {
    struct line *line = &lines[number_of(file) - 1];
    size_t length = line->length;
    line->length = 0;
    return length == 0 || write(number_of(file), line->text, length) == (ssize_t)length ? 0 : EOF;
}

static void flush_all(void) {
    flush(stdout);
    flush(stderr);
}

static int put(char letter, FILE *file) {
    const struct __file_bufio *stream = (struct __file_bufio *)file;
    struct line *line = &lines[stream->fd - 1];
    end = flush_all;
    line->text[line->length++] = letter;
    int ends = line->length >= (size_t)stream->size || (letter == '\n' && stream->bflags & __BLBF);
    return ends && flush(file) != 0 ? _FDEV_ERR : (unsigned char)letter;
}

/* Says when lines are written; the room for them stays each thread's own. */
static int set_buffer(FILE *file, char *buffer, int mode, size_t bytes) {
    struct __file_bufio *stream = (struct __file_bufio *)file;
    (void)buffer;
    (void)bytes;
    if (mode != _IOFBF && mode != _IOLBF && mode != _IONBF)
        return EOF;
    flush(file);
    stream->size = mode == _IONBF ? 1 : LINE_BYTES;
    stream->bflags = mode == _IOLBF ? __BLBF : 0;
    return 0;
}

static int finish(FILE *file) {
    if (number_of(file) != STDIN_FILENO)
        flush(file);
    return close(number_of(file));
}

static int nothing(FILE *file) {
    (void)file;
    return _FDEV_EOF;
}

static off_t seek(FILE *file, off_t offset, int from) {
    return lseek(number_of(file), offset, from);
}

#define STREAM(number, get, put, flush, set_buffer, rights)                                                            \
    {                                                                                                                  \
        .xfile = FDEV_SETUP_EXT(put, get, flush, finish, seek, set_buffer, (rights) | __SBUF),                         \
        .fd = number,                                                                                                  \
        .bflags = __BLBF,                                                                                              \
        .size = LINE_BYTES,                                                                                            \
    }

static struct __file_bufio input = STREAM(STDIN_FILENO, nothing, 0, 0, 0, _FDEV_SETUP_READ);
static struct __file_bufio output = STREAM(STDOUT_FILENO, 0, put, flush, set_buffer, _FDEV_SETUP_WRITE);
static struct __file_bufio errors = STREAM(STDERR_FILENO, 0, put, flush, set_buffer, _FDEV_SETUP_WRITE);

FILE *const stdin = &input.xfile.cfile.file;
FILE *const stdout = &output.xfile.cfile.file;
FILE *const stderr = &errors.xfile.cfile.file;

/* picolibc's exit calls the destructors itself, and this behind them. */
void _fini(void) {
    if (end)
        end();
}

void cof_prepare_exit(void) {}
