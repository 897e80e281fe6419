/* What newlib's printf serves: numbered arguments; `%n`; long doubles, which are doubles on these processors. */
enum { NUMBERED = 0, COUNTS = 1, WIDE_DOUBLES = 1 };
