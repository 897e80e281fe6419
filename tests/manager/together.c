/* One of several hostile clients of the memory manager and the console, which share memory with each other. It wants
 * each call to take long. It fills the manager's pools, its window of addresses and its records in one of several ways,
 * then asks for anything in any order: the operation, the size, the specification, the address and the alignment are
 * drawn apart, so that each can meet each. Before each call it fills the caches. Message and text begin at odd
 * addresses; the message spans two lines, or two pages. SEED, ROUNDS: its draws, and how many calls. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cofferdam.h"
#include "cofferdam_memory.h"

/* The words of crates/manager/src/wire.rs: a hostile client does not ask the library. */
enum { GRANT = 1, SHARE, PERMIT, REVOKE, RELEASE, SCRUB, QUERY, RECLAIM, MAP, JOIN, EXPLAIN };
enum { GRANTED = 0, REFUSED = 1, DONE = 2 };
enum { OPERATION, SPEC, BYTES, ADDRESS, ALIGNMENT, ACCESS, LIFE, REFUSED_OPERATION, DOMAIN, SHARED = 12, WORDS = 16 };
/* Words of a refusal. */
enum { CHANGE = 4, VALUE = 5, UNKNOWN = 8, STEP_SHIFT = 16 };
/* Words of a grant. */
enum { LEFT = 7 };
enum { RECORDS = 32, SHARES = 4, ACTIVE = 3, FIRST_ACTIVE = 'l', TEXT = 256, MARK = 16 };
#if defined(__riscv) || defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
enum { BORDER = 4096 }; /* a page */
#else
enum { BORDER = 128 };
#endif
enum { PAGE = 4096, LARGE_PAGE = 64 << 10, SECTION = 1 << 20 };

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
enum { LINES = 288 << 10 }; /* more than any second-level cache has: 1 MiB */
#elif defined(__ARM_ARCH_7EM__)
enum { LINES = 8 << 10 };
#else
enum { LINES = 1 }; /* no data cache */
#endif
enum { LINE_WORDS = 8 };

static volatile uint32_t lines[LINES];
static uint8_t places[2 * BORDER] __attribute__((aligned(BORDER)));
static uint8_t text[TEXT + 1];
/* What is sent and answered; what was sent last. */
static uint32_t message[WORDS], asked[WORDS], held[RECORDS];
static uint32_t holds, gate, console, seed = SEED * 2654435761u + 1, calls, longest;

__attribute__((naked, noinline, aligned(32))) static void run_through_code(void) {
#if defined(__riscv)
    __asm__ volatile(".rept 8\n nop\n .endr\n ret"); /* no caches */
#elif defined(__ARM_ARCH_8M_MAIN__)
    __asm__ volatile(".rept 2000\n nop\n .endr\n bx lr");
#else
    __asm__ volatile(".rept 9000\n nop\n .endr\n bx lr");
#endif
}

static void spoil_caches(void) {
#pragma GCC unroll 8
    for (unsigned at = 0; at < LINES; at += LINE_WORDS)
        lines[at]++;
    run_through_code();
}

static uint32_t draw(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % below;
}

/* A service that was stopped is the end of this program. */
static int32_t told(int32_t status) {
    calls++;
    if (status == COF_E_GATE_OVERRUN || status == COF_E_STOPPED || status == COF_E_CALLEE_FAULT) {
        cof_mark(9, message[OPERATION]);
        cof_exit(1);
    }
    return status;
}

/* Sends the message and takes the answer. A mark (16 and the operation) tells of each call that took longer than all
 * before, in ticks. */
static int32_t send(void) {
    uint8_t *from = places + (draw(2) ? BORDER : BORDER + 64) - 31;
    uint32_t operation = message[OPERATION];
    memcpy(asked, message, sizeof asked);
    memcpy(from, message, sizeof message);
    spoil_caches();
    uint32_t before = (uint32_t)cof_time_now();
    int32_t status = told(cof_gate_call(gate, (uint32_t)(uintptr_t)from, 0, 0, 0));
    uint32_t took = (uint32_t)cof_time_now() - before;
    /* More than a millisecond is the wait for its budget. */
    if (took > longest && took < cof_ticks_per_second() / 1000)
        cof_mark(MARK + operation, longest = took);
    memcpy(message, from, sizeof message);
    return status;
}

static void write_text(void) {
    spoil_caches();
    told(cof_gate_call(console, (uint32_t)(uintptr_t)(text + 1), TEXT, 0, 0));
}

/* A name as the system has them: they differ in their last letters, so that comparing them takes long. */
static void write_name(unsigned word, const char *begins, unsigned letter) {
    char name[16] = {0};
    size_t length = strlen(begins);
    memcpy(name, begins, length);
    name[length] = (char)letter;
    memcpy(&message[word], name, sizeof name);
}

static int32_t ask(uint32_t operation, uint32_t spec, uint32_t bytes, uint32_t address) {
    memset(message, 0, sizeof message);
    message[OPERATION] = operation;
    message[SPEC] = spec;
    message[BYTES] = bytes;
    message[ADDRESS] = address;
    message[LIFE] = cof_restarts();
    if (operation == SHARE || operation == PERMIT || operation == REVOKE || operation == JOIN) {
        write_name(SHARED, "shared-memory-", 'a' + draw(SHARES));
        message[ALIGNMENT] = draw(3) ? 0 : 1u << draw(26);
        message[ACCESS] = operation == JOIN ? 1 + 2 * draw(2) : operation == PERMIT && draw(2) ? 3 : 15;
        if (operation == JOIN || operation == PERMIT && draw(2))
            write_name(DOMAIN, "client-number-", FIRST_ACTIVE + draw(ACTIVE));
    }
    return send();
}

/* Asks for the remedy of the request that was refused last, a candidate at a time. */
static void look_for_remedy(void) {
    uint32_t request[WORDS];
    memcpy(request, asked, sizeof request);
    for (unsigned tries = 0; tries < 60 && message[0] == REFUSED && message[CHANGE] == UNKNOWN; tries++) {
        uint32_t step = message[VALUE];
        memcpy(message, request, sizeof message);
        message[OPERATION] = EXPLAIN;
        message[REFUSED_OPERATION] = request[OPERATION] | step << STEP_SHIFT;
        if (send() != 0)
            return;
    }
}

static void map_rest(uint32_t at) {
    for (unsigned tries = 0; tries < 300 && ask(MAP, 0, 0, at) == 0 && message[0] == DONE && message[1]; tries++)
        ;
}

/* Returns true if it was granted. */
static int ask_for_memory(uint32_t operation, uint32_t spec, uint32_t bytes, uint32_t address) {
    if (ask(operation, spec, bytes, address) != 0)
        return 0;
    if (message[0] != GRANTED) {
        look_for_remedy();
        return 0;
    }
    uint32_t at = message[1], left = message[LEFT];
    if (holds < RECORDS)
        held[holds++] = at;
    if (left && draw(4))
        map_rest(at);
    return 1;
}

static uint32_t size(void) {
    switch (draw(7)) {
    case 0:
        return 256u << draw(15);
    case 1:
        return PAGE;
    case 2:
        return LARGE_PAGE * (1 + draw(20)) - draw(3) * PAGE;
    case 3:
        return 1 + draw(1 << 18);
    case 4:
        return SECTION * (1 + draw(6)) - draw(2) * PAGE;
    case 5:
        return (256u << draw(8)) * (1 + draw(8));
    default:
        return draw(4) ? PAGE * (1 + draw(15)) : 0xfffff000u;
    }
}

/* Any level with any flags, more often one that is granted. */
static uint32_t spec(void) {
    static const uint32_t granted[] = {RT_BEST_EFFORT, RT_L2, RT_L1, RT_DETERMINISTIC, RT_L2 | RT_DATA_ON_CHIP};
    return draw(2) ? granted[draw(5)] : draw(5) | draw(32) << 3;
}

static void scrub(uint32_t at, unsigned most) {
    while (most-- && ask(SCRUB, 0, 0, at) == 0 && message[0] == DONE && message[1])
        ;
}

static void give_back(void) {
    uint32_t which = draw(holds), at = held[which];
    held[which] = held[--holds];
    for (unsigned tries = 0; tries < 200 && ask(RELEASE, 0, 0, at) == COF_E_BUSY; tries++)
        ;
    scrub(at, draw(4) ? 600 : draw(20));
}

/* Fills pools, window and records in a way that is drawn. */
static void fill(uint32_t until) {
    uint32_t style = draw(6), bytes = SECTION * (1 + draw(4));
    if (style < 3)
        while (bytes >= PAGE && calls < until)
            if (!ask_for_memory(GRANT, RT_BEST_EFFORT, bytes, 0) || style == 0)
                bytes = style == 0 ? 0 : bytes / 2;
    for (unsigned tries = 0; tries < 60 && calls < until && holds < RECORDS - draw(3); tries++) {
        /* Every other granule of the window, so that as many holes as possible are left. */
        uint32_t at = style == 3 && holds ? held[holds - 1] + (1 + draw(3)) * LARGE_PAGE : 0;
        uint32_t most = style == 4 ? size() : style == 5 ? PAGE : 256u << draw(5);
        ask_for_memory(GRANT, draw(8) ? RT_BEST_EFFORT : spec(), most, at);
    }
}

static uint32_t address(void) {
    if (draw(3))
        return 0;
    if (holds && draw(4))
        return held[draw(holds)] + (draw(2) ? LARGE_PAGE * draw(80) : 0);
    return LARGE_PAGE * draw(65536);
}

static void ask_for_anything(void) {
    uint32_t what = draw(100);
    if (what < 42)
        ask_for_memory(GRANT, spec(), size(), address());
    else if (what < 53)
        ask_for_memory(SHARE, draw(4) ? RT_BEST_EFFORT : spec(), draw(2) ? PAGE : size(), 0);
    else if (what < 64)
        ask_for_memory(JOIN, draw(4) ? RT_BEST_EFFORT : spec(), draw(2) ? PAGE : size(), 0);
    else if (what < 68)
        ask(PERMIT, 0, 0, 0);
    else if (what < 72)
        ask(REVOKE, 0, 0, 0);
    else if (what < 84 && holds)
        give_back();
    else if (what < 94 && holds)
        ask(draw(3) ? MAP : QUERY, 0, 0, held[draw(holds)] + (draw(4) ? 0 : draw(LARGE_PAGE)));
    else if (what < 98)
        write_text();
    else if (draw(6) == 0)
        ask(RECLAIM, 0, 0, 0);
}

int main(void) {
    gate = cof_cap("memory", COF_KIND_GATE);
    console = cof_cap("console", COF_KIND_GATE);
    memset(text, '.', sizeof text);
    text[TEXT] = '\n';
    while (calls < ROUNDS) {
        /* No more than a third of all, where these are few. */
        fill(calls + (ROUNDS < 600 ? ROUNDS / 3 : 200));
        for (uint32_t until = calls + 200; calls < until && calls < ROUNDS;)
            ask_for_anything();
        uint32_t what = draw(4);
        while (what && holds > (what == 1 ? 0 : 2 * what) && calls < ROUNDS)
            give_back();
        if (what == 0)
            for (holds = 0; calls < ROUNDS && ask(RECLAIM, 0, 0, 0) == 0 && message[0] == DONE && message[1];)
                ;
    }
    write_text();
    return 0;
}
