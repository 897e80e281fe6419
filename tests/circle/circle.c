/* Two domains of one program whose gates call each other in a circle: what the last call returns. */
#include <cofferdam.h>

/* Calls on; the status travels back as the value. */
uint64_t on(uint32_t badge, uint32_t depth, uint32_t a1, uint32_t a2) {
    (void)badge, (void)a1, (void)a2;
    uint32_t value = 0;
    int32_t status = cof_gate_call(cof_cap("next", COF_KIND_GATE), depth + 1, 0, 0, &value);
    cof_gate_return(0, status == 0 ? value : (uint32_t)(-status) << 8 | depth);
    return 0;
}

/* 0 if the second gate could not enter the first again, because that is busy. */
int main(void) {
    uint32_t value = 0, first = cof_cap("first", COF_KIND_GATE);
    if (cof_gate_call(first, 1, 0, 0, &value) != 0)
        return 1;
    return value == ((uint32_t)-COF_E_BUSY << 8 | 2) ? 0 : (int)value;
}
