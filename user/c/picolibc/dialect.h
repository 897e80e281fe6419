/* What picolibc's printf serves: numbered arguments; `%n`; long doubles, which have 128 bits there. */
enum { NUMBERED = 1, COUNTS = 0, WIDE_DOUBLES = 0 };
