/* A header beside sources. */
extern unsigned table[2];
