/* Between the start-up code, the C library's glue, and a Rust run-time that links C. */
#ifndef COFFERDAM_GLUE_H
#define COFFERDAM_GLUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After so many ticks, 50 us, a thread looks again whether another one is done. */
#define COF_WAIT_TICKS(ticks_per_second) ((ticks_per_second) / 20000 + 1)

/* Remembers the information block; called once, before anything else here. */
void cof_begin(const uint32_t *info, uint32_t restarts);
/* Checks and remembers the information block: 0 when it has another version. Gives the heap its memory. */
int32_t cof_info_begin(const uint32_t *info);
void cof_heap_begin(void);
/* The run-time's functions for rt_malloc: a call of the manager's gate, and how often the domain was restarted
 * (UINT32_MAX: its first thread has not started, and it is not known). */
int32_t cof_grants_call(uint32_t gate, uint32_t *message);
uint32_t cof_grants_life(void);
/* The run-time's functions for the heap: to let less important threads run (false in a gate, where
 * nothing may wait), and to report a program error. */
bool cof_heap_wait(void);
__attribute__((noreturn)) void cof_heap_fault(uint32_t error, uint32_t address);
/* The digits of floating-point numbers (user/number), of which libraries of C share the making between threads, or
 * round wrongly: writes the magnitude of a finite number with so many digits behind the point, as `%f` or as `1.5e-5`,
 * and returns its length, 0 without room; reads the number that a string begins with, as strtod. */
size_t cof_number_write(double value, bool exponent, uint32_t places, char *to, size_t room);
double cof_number_read(const char *text, size_t *taken, bool *out_of_range);
float cof_number_read_single(const char *text, size_t *taken, bool *out_of_range);
/* Fails with ENOSYS: the result of a function that is refused whatever it is asked. */
int cof_refused(void);
/* Before anything of the program runs: by the first of its threads that comes. */
void cof_start(const uint32_t *info, uint32_t restarts);
/* Prepares the library of C before anything of the program runs, so that `exit` works. */
void cof_prepare_exit(void);
/* The domain's name. */
const char *cof_name(void);

#endif
