#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *text = malloc(32);
    snprintf(text, 32, "6 times 7 is %d", 6 * 7);
    printf("%s\n", text);
    free(text);
    return 0;
}
