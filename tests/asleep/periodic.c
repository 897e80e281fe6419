/* Waits for twenty periods, and ends the run. */
#include <cofferdam.h>

int main(void) {
    uint32_t missed;
    for (int i = 0; i < 20; i++)
        if (cof_wait_period(&missed) != 0 || missed != 0)
            return 1;
    return 0;
}
