// The duties of an MMU towards a kernel, tried on the running SoC: faults that are precise and restart, U-mode confined
// to the upper half, rights, release, switches, split accesses, interrupts, and one latency for all mapped accesses.
// Exit code 0, or the line of the check that failed.
#include "mmu.h"

#define PAGES_LOG2 6
#define PAGE_ADDRESS(page) (UPPER + ((uint32_t)(page) << 12))
#define FRAME_OF(page) (DRAM / 4096 + 0x100 + (page))
#define CODE_PAGE 1 // user code: region 0 to 3, read and execute
#define HEAP 4      // pages 4 to 39: read and write
#define HEAP_PAGES 36
#define CONST_PAGE 40 // pages 40 to 43: read only

enum policy { RESTART, SKIP, LEAVE };

extern uint32_t load_at(uint32_t address), cycles_of_load(uint32_t address), cycles_of_store(uint32_t address);
extern void store_at(uint32_t address, uint32_t word), leave_user(void) __attribute__((noreturn));
extern void enter_user(uint32_t pc, uint32_t stack, uint32_t a0, uint32_t a1);
extern char load_at_pc[], store_at_pc[], user_sum[], user_peek[], user_poke[], user_jump[], user_spin[];

static struct domain first = {192, PAGES_LOG2}, second = {256, PAGES_LOG2};
static const struct domain *current;
static enum policy policy;
static uint32_t faults, cause, epc, tval, from_user, result;

static void puts_(const char *text) {
    while (*text)
        CONSOLE_PUT = (uint8_t)*text++;
}
static void put_number(uint32_t value) {
    char text[11], *p = text + 10;
    *p = 0;
    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    puts_(p);
}
static void fail(int line) {
    puts_("FAIL line ");
    put_number((uint32_t)line);
    puts_("\n");
    CONSOLE_STOP = (uint32_t)line & 0xff ? (uint32_t)line & 0xff : 255;
    for (;;)
        __asm__ volatile("wfi");
}
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what))                                                                                                   \
            fail(__LINE__);                                                                                            \
    } while (0)

static uint32_t region_of(uint32_t page) {
    return page < HEAP ? 0 : page < CONST_PAGE ? HEAP : CONST_PAGE;
}
static uint32_t rights_of(uint32_t page) {
    return page < HEAP ? RIGHT_R | RIGHT_X : page < CONST_PAGE ? RIGHT_R | RIGHT_W : RIGHT_R;
}
static void map(uint32_t page, uint32_t frame) {
    page_map(current, region_of(page), page, frame, rights_of(page));
}

void trap(struct frame *frame) {
    cause = CSR_READ(mcause);
    epc = frame->pc;
    tval = CSR_READ(mtval);
    from_user = (CSR_READ(mstatus) & 0x1800) == 0;
    faults++;
    if (cause == (uint32_t)CAUSE_TIMER) {
        TIMER_CMP_HIGH = 0xffffffff;
        leave_user();
    }
    if (cause == CAUSE_ECALL_U) {
        result = frame->x[FRAME_A0];
        leave_user();
    }
    switch (policy) {
    case RESTART:
        CHECK(tval >= UPPER && tval < PAGE_ADDRESS(1 << PAGES_LOG2));
        map((tval - UPPER) >> 12, FRAME_OF((tval - UPPER) >> 12));
        break;
    case SKIP:
        frame->pc += 4;
        break;
    case LEAVE:
        leave_user();
    }
}

static void domain_open(const struct domain *domain, uint32_t junk) {
    current = domain;
    domain_clear(domain, junk);
    region_begin(domain, 0, HEAP, RIGHT_R | RIGHT_X);
    region_begin(domain, HEAP, HEAP_PAGES, RIGHT_R | RIGHT_W);
    region_begin(domain, CONST_PAGE, 4, RIGHT_R);
    domain_switch(domain);
}

static void faults_are_precise(void) {
    const uint32_t address = PAGE_ADDRESS(HEAP + 2) + 0x40;
    REG(FRAME_OF(HEAP + 2) << 12 | 0x40) = 0xfeedface;
    policy = RESTART;
    faults = 0;
    CHECK(load_at(address) == 0xfeedface);
    CHECK(faults == 1 && cause == CAUSE_LOAD && epc == (uint32_t)load_at_pc && tval == address && !from_user);
    store_at(PAGE_ADDRESS(HEAP + 3), 0x55aa1234);
    CHECK(faults == 2 && cause == CAUSE_STORE && epc == (uint32_t)store_at_pc && tval == PAGE_ADDRESS(HEAP + 3));
    CHECK(REG(FRAME_OF(HEAP + 3) << 12) == 0x55aa1234);
    CHECK(load_at(PAGE_ADDRESS(HEAP + 3)) == 0x55aa1234 && faults == 2);
    // Split over two pages: nothing mapped, then only the second half, then only the first.
    store_at(PAGE_ADDRESS(HEAP + 6) - 2, 0x11223344);
    CHECK(faults == 4 && load_at(PAGE_ADDRESS(HEAP + 6) - 2) == 0x11223344 && faults == 4);
    map(HEAP + 9, FRAME_OF(HEAP + 9));
    store_at(PAGE_ADDRESS(HEAP + 9) - 1, 0x99aabbcc);
    CHECK(faults == 5 && tval == PAGE_ADDRESS(HEAP + 9) - 1 && load_at(PAGE_ADDRESS(HEAP + 9) - 1) == 0x99aabbcc);
    map(HEAP + 10, FRAME_OF(HEAP + 10));
    load_at(PAGE_ADDRESS(HEAP + 11) - 3);
    CHECK(faults == 6 && tval == PAGE_ADDRESS(HEAP + 11) && epc == (uint32_t)load_at_pc);
}

static void rights_hold(void) {
    policy = SKIP;
    faults = 0;
    map(CONST_PAGE, FRAME_OF(CONST_PAGE));
    REG(FRAME_OF(CONST_PAGE) << 12) = 7;
    CHECK(load_at(PAGE_ADDRESS(CONST_PAGE)) == 7 && faults == 0);
    store_at(PAGE_ADDRESS(CONST_PAGE), 8);
    CHECK(faults == 1 && cause == CAUSE_STORE && tval == PAGE_ADDRESS(CONST_PAGE));
    CHECK(REG(FRAME_OF(CONST_PAGE) << 12) == 7);
    // Outside the 2^k pages, where another domain's tables begin.
    load_at(PAGE_ADDRESS(1 << PAGES_LOG2));
    load_at(0xfffffffc);
    CHECK(faults == 3 && tval == 0xfffffffc);
}

static void user_is_confined(void) {
    policy = LEAVE;
    faults = 0;
    map(CODE_PAGE, DRAM / 4096);
    enter_user((uint32_t)user_peek, 0, PAGE_ADDRESS(CONST_PAGE), 0);
    CHECK(faults == 1 && cause == CAUSE_ECALL_U && from_user && result == 7);
    enter_user((uint32_t)user_peek, 0, 0x100, 0); // the kernel's memory
    CHECK(faults == 2 && cause == CAUSE_LOAD && tval == 0x100 && epc == (uint32_t)user_peek);
    enter_user((uint32_t)user_poke, 0, 0x20000000, 0); // table memory
    CHECK(faults == 3 && cause == CAUSE_STORE && tval == 0x20000000);
    enter_user((uint32_t)user_poke, 0, 0x10020004, 0); // registers of the MMU
    CHECK(faults == 4 && cause == CAUSE_STORE && tval == 0x10020004);
    enter_user((uint32_t)user_jump, 0, 0x80, 0);
    CHECK(faults == 5 && cause == CAUSE_FETCH && tval == 0x80 && from_user);
    enter_user((uint32_t)user_jump, 0, PAGE_ADDRESS(CONST_PAGE), 0); // readable, not executable
    CHECK(faults == 6 && cause == CAUSE_FETCH && epc == PAGE_ADDRESS(CONST_PAGE) && from_user);
    policy = RESTART;
    faults = 0;
    enter_user((uint32_t)user_sum, 0, PAGE_ADDRESS(HEAP + 16), 8); // 8 first touches
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 8; i++)
        sum += PAGE_ADDRESS(HEAP + 16 + i);
    CHECK(faults == 9 && result == sum);
    faults = 0;
    enter_user((uint32_t)user_sum, 0, PAGE_ADDRESS(HEAP + 16), 8);
    CHECK(faults == 1 && result == sum);
}

static void release_and_switch(void) {
    const uint32_t junk[] = {0, 0xffffffff, 0x7ffff};
    policy = SKIP;
    faults = 0;
    const uint32_t before = CSR_READ(mcycle);
    region_end(current, HEAP, HEAP_PAGES);
    const uint32_t cycles = CSR_READ(mcycle) - before;
    for (uint32_t page = HEAP; page < CONST_PAGE; page++)
        load_at(PAGE_ADDRESS(page));
    CHECK(faults == HEAP_PAGES);
    CHECK(load_at(PAGE_ADDRESS(CONST_PAGE)) == 7 && faults == HEAP_PAGES);
    puts_("release of 36 pages: ");
    put_number(cycles);
    puts_(" cycles\n");
    // A domain whose tables hold junk, beside one with mapped pages.
    for (unsigned j = 0; j < 3; j++) {
        domain_open(&second, junk[j]);
        faults = 0;
        for (uint32_t page = 0; page < 1 << PAGES_LOG2; page++)
            load_at(PAGE_ADDRESS(page));
        CHECK(faults == 1 << PAGES_LOG2);
        map(HEAP, FRAME_OF(HEAP + 1));
        REG(FRAME_OF(HEAP + 1) << 12) = 0xabcd0000 + j;
        CHECK(load_at(PAGE_ADDRESS(HEAP)) == 0xabcd0000 + j && faults == 1 << PAGES_LOG2);
    }
    current = &first;
    domain_switch(&first);
    CHECK(load_at(PAGE_ADDRESS(CONST_PAGE)) == 7);
}

static void interrupts_arrive(void) {
    policy = LEAVE;
    faults = 0;
    TIMER_CMP_HIGH = 0;
    TIMER_CMP_LOW = TIMER_LOW + 3000;
    CSR_SET(mie, 0x80);
    enter_user((uint32_t)user_spin, 0, 0, 0);
    CSR_CLEAR(mie, 0x80);
    CHECK(faults == 1 && cause == (uint32_t)CAUSE_TIMER && from_user && epc == (uint32_t)user_spin);
}

// Every mapped page in an order of its own: the cycles of a load and of a store are one number each.
static void latency_is_constant(void) {
    uint32_t load = 0, store = 0;
    policy = RESTART;
    for (uint32_t i = 0; i < HEAP_PAGES; i++)
        load_at(PAGE_ADDRESS(HEAP + (i * 17 + 5) % HEAP_PAGES));
    cycles_of_load(PAGE_ADDRESS(HEAP));
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < HEAP_PAGES; i++) {
            const uint32_t address = PAGE_ADDRESS(HEAP + (i * (round ? 7 : 11) + 3) % HEAP_PAGES) + 64 * i;
            const uint32_t l = cycles_of_load(address), s = cycles_of_store(address);
            // With a TLB a page costs more when it is not there.
            if (MMU_KIND >> 24)
                continue;
            CHECK((load == 0 || l == load) && (store == 0 || s == store));
            load = l;
            store = s;
        }
    if (load == 0)
        return;
    puts_("cycles of a load: ");
    put_number(load);
    puts_(", of a store: ");
    put_number(store);
    puts_("\n");
}

// Without an MMU the upper half shows DRAM, and nothing behind its 2^30 bytes.
static int without_mmu(void) {
    policy = SKIP;
    REG(DRAM + 0x12340) = 0x600dcafe;
    CHECK(load_at(UPPER + 0x12340) == 0x600dcafe && faults == 0);
    store_at(UPPER + 0x12344, 5);
    CHECK(REG(DRAM + 0x12344) == 5);
    load_at(UPPER + 0x40000000);
    CHECK(faults == 1 && cause == CAUSE_LOAD);
    const uint32_t load = cycles_of_load(UPPER);
    for (uint32_t i = 0; i < 64; i++)
        CHECK(cycles_of_load(UPPER + 4096 * i + 4 * i) == load);
    puts_("cycles of a load: ");
    put_number(load);
    puts_("\nsmoke passed\n");
    return 0;
}

int main(void) {
    if ((MMU_KIND & 7) == KIND_NONE)
        return without_mmu();
    if ((MMU_KIND & 7) == KIND_SV32)
        first.base = TABLE_D_PAGE + 4, second.base = TABLE_D_PAGE + 8;
    policy = SKIP;
    load_at(UPPER);
    CHECK(faults == 1); // off after reset
    // All of the upper half, and nothing else, for U.
    CSR_WRITE(pmpaddr0, UPPER >> 2 | 0x0fffffff);
    CSR_WRITE(pmpcfg0, 0x1f);
    domain_open(&first, 0x2a);
    faults_are_precise();
    rights_hold();
    user_is_confined();
    release_and_switch();
    domain_open(&first, 0xffffffff);
    map(CODE_PAGE, DRAM / 4096);
    interrupts_arrive();
    latency_is_constant();
    puts_("smoke passed\n");
    return 0;
}
