/* Between the start-up code, the C library's glue, and a Rust run-time that links C. */
#ifndef COFFERDAM_GLUE_H
#define COFFERDAM_GLUE_H

#include <stdint.h>

/* Remembers the information block; called once, before anything else here. */
void cof_begin(const uint32_t *info, uint32_t restarts);
/* The domain's name. */
const char *cof_name(void);

#endif
