/* A plain C program: nothing in it knows of Cofferdam. docs/your-program.md makes it a domain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    enum { COUNT = 2000 };
    double *numbers = malloc(COUNT * sizeof *numbers);
    if (!numbers) {
        puts("no memory");
        return 1;
    }
    clock_t start = clock();
    for (int i = 0; i < COUNT; i++)
        numbers[i] = fabs(sin(i * 12.9898) * 43758.5453);
    qsort(numbers, COUNT, sizeof *numbers, compare);
    printf("%s: median of %d numbers is %.6f\n", argc > 0 ? argv[0] : "?", COUNT, numbers[COUNT / 2]);
    printf("it took %ld ms\n", (long)((clock() - start) * 1000 / CLOCKS_PER_SEC));
    free(numbers);
    return 0;
}
