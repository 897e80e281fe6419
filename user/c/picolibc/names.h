/* picolibc calls the system by the names of POSIX. */
#define SYSTEM(name) name
