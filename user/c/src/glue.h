/* Between the start-up code, the C library's glue, and a Rust run-time that links C. */
#ifndef COFFERDAM_GLUE_H
#define COFFERDAM_GLUE_H

#include <stdint.h>

/* Remembers the information block; called once, before anything else here. */
void cof_begin(const uint32_t *info, uint32_t restarts);
/* Checks and remembers the information block: 0 when it has another version. Gives the heap its memory. */
int32_t cof_info_begin(const uint32_t *info);
void cof_heap_begin(void);
/* The run-time's functions for rt_malloc: a call of the manager's gate, and how often the domain was restarted. */
int32_t cof_grants_call(uint32_t gate, uint32_t *message);
uint32_t cof_grants_life(void);
/* The run-time's functions for the heap: to let less important threads run, and to report a program error. */
void cof_heap_wait(void);
__attribute__((noreturn)) void cof_heap_fault(uint32_t error, uint32_t address);
/* Fails with ENOSYS: the result of a function that is refused whatever it is asked. */
int cof_refused(void);
/* Of the library of C: what has to happen before anything of the program runs, so that `exit` works. */
void cof_prepare_exit(void);
/* The domain's name. */
const char *cof_name(void);

#endif
