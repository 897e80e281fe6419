/* A probe is a pair of labels; the observer of the run takes the time when the instruction behind each is executed. A
 * label costs nothing and emits nothing. Each label stands once: functions that hold one are not inlined or cloned. */
#ifndef PEER_PROBE_H
#define PEER_PROBE_H

#define PROBE(name) __asm volatile(".global probe_" #name "\nprobe_" #name ":" ::: "memory")
#define PROBED __attribute__((noinline, noclone, used))

#endif
