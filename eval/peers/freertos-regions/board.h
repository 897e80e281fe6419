/* The board under the example. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Prints, for privileged code: `#` stands for the next value in decimal, `$` for it in hexadecimal. */
void board_print(const char *text, const uint32_t *values);
#define PRINT(text, ...) board_print(text, (const uint32_t[]){0, ##__VA_ARGS__} + 1)

/* Ends the run with a status. */
_Noreturn void board_exit(uint32_t status);

/* The example. */
void board_main(void);

#endif
