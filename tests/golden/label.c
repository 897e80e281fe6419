/* A label of an assembler that does not say that it is a Thumb function. */
#include "label.h"

__asm__(".section .cofferdam.entry,\"ax\"\n.global bare\nbare: b bare\n.text\n");

unsigned table[2] = {1};

int main(void) {
    return table[1];
}
