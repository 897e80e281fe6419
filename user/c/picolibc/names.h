/* picolibc calls the system by the names of POSIX. */
#define SYSTEM(name) name
/* Its streams look into `errno`, as programs do. */
#define KEEP(why) ((void)(why))
