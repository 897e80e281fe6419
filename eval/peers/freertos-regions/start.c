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
#define SCB_AIRCR (*(volatile uint32_t *)0xe000ed0cu)
#define RESET 0x05fa0004u
#define RUN_BEGINS 1u /* records of Cofferdam's trace port (crates/abi/src/trace.rs) */
#define RUN_ENDS 0xff10u

PRIVILEGED_DATA volatile uint32_t peer_port[2];

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

/* An observer ends the run at the second store. Others see the line, and then a reset. */
void board_exit(uint32_t status) {
    __asm volatile("cpsid i" ::: "memory");
    peer_port[0] = status;
    peer_port[1] = RUN_ENDS;
    PRINT("status #\n", status);
    __asm volatile("dsb" ::: "memory");
    SCB_AIRCR = RESET;
    for (;;) {
    }
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
    peer_port[0] = 0;
    peer_port[1] = RUN_BEGINS;
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
