/* newlib calls the system by these names: its own functions have those of POSIX. */
#define SYSTEM(name) _##name
