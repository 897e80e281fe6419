/* Connects FreeRTOS-MPU to the library: a hook at the switch, and the handler of memory faults. */
#include "regions.h"

#define MMFSR_DACCVIOL 0x02u
#define MMFSR_MMARVALID 0x80u
#define SCB_CFSR (*(volatile uint32_t *)0xe000ed28u)
#define SCB_SHCSR (*(volatile uint32_t *)0xe000ed24u)
#define SCB_MMFAR (*(volatile uint32_t *)0xe000ed34u)
#define MPU_RBAR (*(volatile uint32_t *)0xe000ed9cu)
#define MPU_RASR (*(volatile uint32_t *)0xe000eda0u)
#define FPU_FPCCR (*(volatile uint32_t *)0xe000ef34u)
#define SHCSR_SVCALLPENDED (1u << 15)
#define FPCCR_LSPACT 1u
#define XPSR_THUMB (1u << 24)
#define EXC_RETURN_THREAD_PSP 0xfffffffdu

_Static_assert(portFIRST_CONFIGURABLE_REGION == 0 && portNUM_CONFIGURABLE_REGIONS == REGIONS_USABLE,
               "the regions that FreeRTOS leaves");
_Static_assert(sizeof(xMPU_REGION_REGISTERS) == sizeof(cfm_regs), "FreeRTOS and the library store the same pairs");

extern struct region_task __region_tasks_start__[], __region_tasks_end__[];

/* The task whose regions are loaded, or will be before it runs; null for other tasks, such as the
 * idle task. */
PRIVILEGED_DATA static struct region_task *current;

PRIVILEGED_FUNCTION void regions_switched_in(void *task, void *registers) {
    struct region_task *const next = task;
    if (next < __region_tasks_start__ || next >= __region_tasks_end__) {
        current = NULL;
        return;
    }
    current = next;
    const cfm_regs *const image = cfm_slots_image(&next->slots);
    cfm_regs *const loaded = registers;
    for (uint32_t i = 0; i < REGIONS_USABLE; i++)
        loaded[i] = image[i];
}

/* A task that was stopped goes on here, unprivileged and on its own stack. */
static void regions_end(void) {
    for (;;)
        vTaskSuspend(NULL);
}

/* The task goes on at `regions_end`, at the top of its stack, whatever it has done to its stack pointer; a system
 * call that it was about to make is not made. */
PRIVILEGED_FUNCTION static uint32_t stop(struct region_task *task, uint32_t fault, uint32_t address) {
    uint32_t *const frame = (uint32_t *)(task->stack_top - 32);
    task->fault = fault;
    task->fault_address = address;
    for (uint32_t i = 0; i < 6; i++)
        frame[i] = 0;
    frame[6] = (uint32_t)regions_end & ~1u;
    frame[7] = XPSR_THUMB;
    FPU_FPCCR &= ~FPCCR_LSPACT; /* its floating-point registers are not stored any more */
    SCB_SHCSR &= ~SHCSR_SVCALLPENDED;
    __asm volatile("msr psp, %0" : : "r"(frame));
    return EXC_RETURN_THREAD_PSP;
}

/* The C part of the handler; the value for the exception's return. */
__attribute__((used, noinline, noclone, section(".miss"))) static uint32_t answer(uint32_t exception_return) {
    struct region_task *const task = current;
    const uint32_t why = SCB_CFSR & 0xffu, address = SCB_MMFAR;
    uint32_t control;
    __asm volatile("mrs %0, control" : "=r"(control));
    if (task == NULL || (control & 1u) == 0)
        cfm_panic(); /* the kernel's own fault */
    SCB_CFSR = why;
    if (why != (MMFSR_DACCVIOL | MMFSR_MMARVALID))
        return stop(task, REGIONS_OTHER_FAULT, 0);
    cfm_regs region;
    const cfm_status status = cfm_slots_fill(&task->slots, &task->trie, address, &region);
    if (status != CFM_OK)
        return stop(task, (uint32_t)status, address);
    MPU_RBAR = region.rbar;
    MPU_RASR = region.rasr;
    task->misses++;
    __asm volatile(".global regions_loaded\nregions_loaded: dsb" : : : "memory");
    return exception_return;
}

/* Vector of exception 4. A fault on the main stack is one of privileged code. */
__attribute__((naked, used, section(".miss"))) void regions_memory_fault(void) {
    __asm volatile("tst lr, #4\n"
                   "beq cfm_panic\n"
                   "push {r3, lr}\n"
                   "mov r0, lr\n"
                   "bl answer\n"
                   "pop {r3, lr}\n"
                   "bx r0\n");
}

/* The pairs of what is to be pinned; their number, or more than REGIONS_USABLE when one is refused. */
PRIVILEGED_FUNCTION static uint32_t pinned_regions(const TaskParameters_t *parameters, cfm_regs *pinned) {
    const uint32_t geometry = 0xffffu; /* of MPU_RASR: size, sub-regions, enable; above are the attributes */
    uint32_t count = 0;
    for (; count < REGIONS_USABLE && parameters->xRegions[count].ulLengthInBytes > 0; count++) {
        const MemoryRegion_t *const asked = &parameters->xRegions[count];
        const cfm_span span = {.base = (uint32_t)asked->pvBaseAddress, .len = asked->ulLengthInBytes};
        if (cfm_region_encode(&span, CFM_READ, CFM_WRITE_BACK, &pinned[count], NULL) != CFM_OK)
            return REGIONS_USABLE + 1;
        pinned[count].rasr = (pinned[count].rasr & geometry) | (asked->ulParameters & ~geometry);
    }
    return count;
}

PRIVILEGED_FUNCTION cfm_status regions_create(struct region_task *task, const TaskParameters_t *parameters,
                                              TaskHandle_t *handle) {
    cfm_regs pinned[REGIONS_USABLE];
    const uint32_t count = pinned_regions(parameters, pinned);
    if (count > REGIONS_USABLE)
        return CFM_REFUSED;
    if (parameters->pxTaskBuffer != &task->control)
        return CFM_ARGUMENT;
    cfm_status status = cfm_trie_init(&task->trie, task->nodes, REGIONS_NODES, task->leaves, REGIONS_RANGES);
    if (status == CFM_OK) /* no task with less than two: an access may straddle two ranges */
        status = cfm_slots_init(&task->slots, pinned, count, REGIONS_USABLE, cfm_slots_needed(0, 1), CFM_BIT_PLRU);
    if (status != CFM_OK)
        return status;
    task->stack_top = ((uint32_t)(parameters->puxStackBuffer + parameters->usStackDepth)) & ~7u;
    task->misses = 0;
    task->fault = CFM_OK;
    return xTaskCreateRestrictedStatic(parameters, handle) == pdPASS ? CFM_OK : CFM_ARGUMENT;
}

PRIVILEGED_FUNCTION cfm_status regions_allow(struct region_task *task, cfm_span range, uint32_t access,
                                             cfm_refusal *why) {
    cfm_regs region;
    const cfm_status status = cfm_region_encode(&range, access, CFM_WRITE_BACK, &region, why);
    return status == CFM_OK ? cfm_trie_insert(&task->trie, &region) : status;
}
