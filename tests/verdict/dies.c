/* Faults at once. */
int main(void) {
    *(volatile unsigned *)0xfffffff0u = 1;
    return 0;
}
