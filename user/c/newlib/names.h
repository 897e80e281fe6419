/* newlib calls the system by these names: its own functions have those of POSIX. */
#define SYSTEM(name) _##name
/* newlib's streams look in the library's own state why a seek failed; the program's `errno` is elsewhere (own_state.c).
 */
#include <reent.h>
#define KEEP(why) (_REENT->_errno = (why))
