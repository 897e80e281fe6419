/* Vectors, the way from reset to `main`, a console, and the exit. */
#include "board.h"
#include "FreeRTOS.h"
#include "task.h"

#include "cofferdam_mem.h"

extern uint32_t __stack_top[];
void vPortSVCHandler(void);
void xPortPendSVHandler(void);
void xPortSysTickHandler(void);
void regions_memory_fault(void);
void reset(void);

#define SCB_CPACR (*(volatile uint32_t *)0xe000ed88u)
#define UART_DATA (*(volatile uint32_t *)0x40004000u)
#define UART_STATE (*(volatile uint32_t *)0x40004004u)
#define UART_CTRL (*(volatile uint32_t *)0x40004008u)
#define UART_BAUDDIV (*(volatile uint32_t *)0x40004010u)
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u
#define SYS_EXIT_EXTENDED 0x20u

static void fault(void) {
    board_exit(2);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16 + 32] = {
    [0] = __stack_top,
    [1] = reset,
    [2] = fault,
    [3] = fault,
    [4] = regions_memory_fault,
    [5] = fault,
    [6] = fault,
    [11] = vPortSVCHandler,
    [14] = xPortPendSVHandler,
    [15] = xPortSysTickHandler,
};

void board_exit(uint32_t status) {
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, status};
    register uint32_t operation __asm("r0") = SYS_EXIT_EXTENDED;
    register const uint32_t *argument __asm("r1") = block;
    for (;;)
        __asm volatile("bkpt 0xab" : : "r"(operation), "r"(argument) : "memory");
}

/* The library, or the fault handler, has found the kernel's memory damaged. */
void cfm_panic(void) {
    board_exit(3);
}

static void put(char c) {
    while (UART_STATE & 1u) {
    }
    UART_DATA = (uint8_t)c;
}

static void put_number(uint32_t value, uint32_t base) {
    char digits[10];
    int count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0)
        put(digits[--count]);
}

void board_print(const char *text, const uint32_t *values) {
    for (; *text != 0; text++) {
        if (*text == '#')
            put_number(*values++, 10);
        else if (*text == '$')
            put_number(*values++, 16);
        else
            put(*text);
    }
}

void reset(void) {
    SCB_CPACR |= 0xfu << 20;
    __asm volatile("dsb\nisb" ::: "memory");
    UART_BAUDDIV = 16;
    UART_CTRL = 1;
    board_main();
    board_exit(4);
}

PRIVILEGED_DATA static StaticTask_t idle_control;
__attribute__((section(".stacks"),
               aligned(configMINIMAL_STACK_SIZE * 4))) static StackType_t idle_stack[configMINIMAL_STACK_SIZE];

void vApplicationGetIdleTaskMemory(StaticTask_t **control, StackType_t **stack, configSTACK_DEPTH_TYPE *words) {
    *control = &idle_control;
    *stack = idle_stack;
    *words = configMINIMAL_STACK_SIZE;
}
