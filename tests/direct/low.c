/* Waits with its stack pointer closer to the end of its stack in each life, while handlers of another domain interrupt
 * it: their frame does not fit at last. Each life ends in a fault of its own. */
#include "stack.h"

int main(void) {
    wait_low(cof_restarts() % LIVES);
}
