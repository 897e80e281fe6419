/* Taken by the compiler, with a warning. */
static unsigned *address(const char *text) { return text; }
int main(void) { return address("1") == 0; }
