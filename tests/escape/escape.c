/* Asks the host of a simulator for everything that semihosting knows (Arm IHI 0100; RISC-V semihosting 0.4), by each
 * instruction with which it can be asked: one request in each life, unless the instruction is a system call, which goes
 * on. With HANDLER the requests are made by a handler that interrupts reach without the kernel.
 *
 * Marks: 1: a life, its number; 2: all requests were made. */
#include <cofferdam.h>
#include <stdint.h>

#define OPERATIONS 0x31u
#define EXTENSIONS 5u /* 0x100 and above are the implementation's */
#define REQUESTS (OPERATIONS + EXTENSIONS)
#define APPLICATION_EXIT 0x20026u
enum {
    OPEN = 0x01,
    WRITEC = 0x03,
    WRITE0 = 0x04,
    WRITE = 0x05,
    REMOVE = 0x0e,
    SYSTEM = 0x12,
    EXIT = 0x18,
    EXTENDED = 0x20
};
#define FOR_WRITING 4u

static char opened[] = "cofferdam-guest-opened", touch[] = "touch cofferdam-guest-ran",
            text[] = "cofferdam-guest-wrote\n";
static uint32_t block[4];

/* The second argument of a request. */
static uint32_t argument(uint32_t operation) {
    const uint32_t name = (uint32_t)opened, command = (uint32_t)touch, line = (uint32_t)text;
    const uint32_t blocks[][4] = {
        {name, FOR_WRITING, sizeof opened - 1, 0},
        {1, line, sizeof text - 1, 0},
        {command, sizeof touch - 1, 0, 0},
        {APPLICATION_EXIT, 0, 0, 0},
        {name, sizeof opened - 1, name, sizeof opened - 1},
    };
    const uint32_t *chosen = blocks[operation == OPEN       ? 0
                                    : operation == WRITE    ? 1
                                    : operation == SYSTEM   ? 2
                                    : operation == EXTENDED ? 3
                                                            : 4];
    for (unsigned i = 0; i < 4; i++)
        block[i] = chosen[i];
    return operation == WRITE0 || operation == WRITEC ? line : operation == EXIT ? APPLICATION_EXIT : (uint32_t)block;
}

static uint32_t operation(uint32_t request) {
    return request < OPERATIONS ? request + 1 : 0x100 + request - OPERATIONS;
}

/* The instructions. r12 is the number of a system call that there is not. */
#define REQUEST(name, state, instruction)                                                                              \
    __attribute__((naked, noinline)) state static void name(uint32_t what, uint32_t with) {                            \
        (void)what;                                                                                                    \
        (void)with;                                                                                                    \
        __asm__(".syntax unified\nmvn r12, #0\n" instruction "\nbx lr");                                               \
    }

#if defined(__riscv)
__attribute__((naked, noinline)) static void breaks(uint32_t what, uint32_t with) {
    (void)what;
    (void)with;
    __asm__(
        ".option push\n.option norvc\n.balign 16\nslli zero, zero, 0x1f\nebreak\nsrai zero, zero, 7\n.option pop\nret");
}
static void (*const ends[])(uint32_t, uint32_t) = {breaks};
static void (*const goes_on[])(uint32_t, uint32_t) = {0};
#elif __ARM_ARCH_PROFILE == 'A'
#define T32 __attribute__((target("thumb")))
#define A32 __attribute__((target("arm")))
REQUEST(svc_t32, T32, "svc #0xab")
REQUEST(breaks_t32, T32, "bkpt #0xab")
REQUEST(halts_t32, T32, ".inst.n 0xbabc")
REQUEST(svc_a32, A32, "svc #0x123456")
REQUEST(breaks_a32, A32, "bkpt #0xab")
REQUEST(halts_a32, A32, ".inst 0xe10f0070")
static void (*const ends[])(uint32_t, uint32_t) = {breaks_t32, halts_t32, breaks_a32, halts_a32};
static void (*const goes_on[])(uint32_t, uint32_t) = {svc_t32, svc_a32, 0};
#else
REQUEST(svc, , "svc #0xab")
REQUEST(breaks, , "bkpt #0xab")
REQUEST(halts, , ".inst.n 0xbabc")
static void (*const ends[])(uint32_t, uint32_t) = {breaks, halts};
static void (*const goes_on[])(uint32_t, uint32_t) = {svc, 0};
#endif

#ifdef HANDLER
static volatile struct {
    volatile uint32_t *timer;
    uint32_t operation, argument, halts, ran;
} work;

/* The registers of the board's timer (CMSDK): control, value, reload, interrupt. */
enum { CONTROL, VALUE, RELOAD, INTERRUPT };

COF_ENTRY void fired(void) {
    work.timer[INTERRUPT] = 1;
    work.timer[CONTROL] = 0;
    work.ran++;
    register uint32_t what __asm__("r0") = work.operation;
    register uint32_t with __asm__("r1") = work.argument;
    if (work.halts)
        __asm__ volatile(".inst.n 0xbabc" : "+r"(what) : "r"(with) : "memory");
    else
        __asm__ volatile("bkpt #0xab" : "+r"(what) : "r"(with) : "memory");
}

static void request(unsigned way, uint32_t number) {
    struct cof_area timer;
    if (cof_area("timer1", &timer) != 0 || cof_interrupt_ack(cof_cap("fired", COF_KIND_INTERRUPT)) != 0)
        return;
    work.timer = (volatile uint32_t *)timer.base;
    work.halts = way;
    work.operation = operation(number);
    work.argument = argument(work.operation);
    work.timer[RELOAD] = work.timer[VALUE] = 2000;
    work.timer[CONTROL] = 9;
    for (;;) {
        /* It does not come back: the handler faults, or the domain does not end. */
    }
}
#else
static void request(unsigned way, uint32_t number) {
    ends[way](operation(number), argument(operation(number)));
}
#endif

int main(void) {
    const uint32_t life = cof_restarts(), lives = REQUESTS * (sizeof ends / sizeof ends[0]);
    (void)cof_mark(1, life);
    if (life == 0)
        for (unsigned way = 0; goes_on[way] != 0; way++)
            for (uint32_t number = 0; number < REQUESTS; number++)
                goes_on[way](operation(number), argument(operation(number)));
    if (life < lives) {
        request(life / REQUESTS, life % REQUESTS);
        return 1;
    }
    (void)cof_mark(2, lives);
    return 0;
}
