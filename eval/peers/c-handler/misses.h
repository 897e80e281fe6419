/* The declarations that start.c and misses.c share. */
#ifndef MISSES_H
#define MISSES_H

#include "ranges.h"

#define DOMAINS 3u
#define STACK_BYTES 1024u

extern struct domain domains[DOMAINS];
extern uint32_t thread_stack[];

/* Fills the tables of all domains. */
void domains_create(void);

/* The thread's entry function; it does not return. */
void thread(void);

/* Whether every load has missed exactly once. */
int misses_are_complete(void);

#endif
