/* Computes without end. */
int main(void) {
    for (;;) {
    }
}
