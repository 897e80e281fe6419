/* Lines that are long, that would move the cursor, that come in pieces, and that have no end. With an argument it
 * faults amid a line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void line_of(char letter, int length) {
    char text[1100];
    memset(text, letter, (size_t)length);
    text[length] = '\n';
    fwrite(text, 1, (size_t)length + 1, stdout);
}

int main(int argc, char **argv) {
    (void)argv;
    line_of('x', 1025);
    line_of('y', 256);
    printf("gr\303\274n \342\200\223 \360\237\220\242\n");
    /* A control beyond ASCII, as a character, as an overlong form of it, and as a byte. */
    printf("\302\2331Gother: a\n\340\202\2331Gother: b\n\2331Gother: c\n\033[1G\rother: d\n");
    for (const char *next = "in pieces\n"; *next; next++)
        write(1, next, 1);
    fprintf(stderr, "%s, ", "an end");
    fprintf(stderr, "%s", "that never comes");
    if (argc > 1)
        *(volatile int *)0xc = 1;
    return 0;
}
