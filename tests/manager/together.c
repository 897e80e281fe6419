/* One of several hostile clients that share memory with each other: it asks the memory manager for anything in any
 * order, and writes as much to the console as one call takes. It wants both to take long: before each call it fills the
 * caches, the message and the text begin at odd addresses, and the message spans two lines. SEED, ROUNDS: its draws,
 * and how many. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cofferdam.h"
#include "cofferdam_memory.h"

/* The words of crates/manager/src/wire.rs: a hostile client does not ask the library. */
enum { GRANT = 1, SHARE, PERMIT, REVOKE, RELEASE, SCRUB, QUERY, RECLAIM, MAP, JOIN, EXPLAIN };
enum { GRANTED = 0, REFUSED = 1, DONE = 2 };
enum { OPERATION, SPEC, BYTES, ADDRESS, CHANGE, ACCESS, LIFE, REFUSED_OPERATION, DOMAIN, SHARED = 12, WORDS = 16 };
enum { STEP = 5, UNKNOWN = 8, STEP_SHIFT = 16 };
enum { CLIENTS = 3, HELD = 48, TEXT = 256 };

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
enum { LINES = 160 << 10 }; /* more than the second-level cache has */
#elif defined(__ARM_ARCH_7EM__)
enum { LINES = 8 << 10 };
#else
enum { LINES = 1 << 10 }; /* no data cache */
#endif
enum { LINE_WORDS = 8 };

static volatile uint32_t lines[LINES];
static uint8_t place[WORDS * 4 + 64] __attribute__((aligned(64)));
static uint8_t text[TEXT + 1];
static uint32_t message[WORDS], held[HELD];
static uint32_t holds, gate, console, seed = SEED * 2654435761u + 1, calls;

__attribute__((naked, noinline, aligned(32))) static void run_through_code(void) {
#if defined(__riscv)
    __asm__ volatile(".rept 2000\n nop\n .endr\n ret");
#elif defined(__ARM_ARCH_8M_MAIN__)
    __asm__ volatile(".rept 2000\n nop\n .endr\n bx lr");
#else
    __asm__ volatile(".rept 9000\n nop\n .endr\n bx lr");
#endif
}

static void spoil_caches(void) {
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

/* Sends the message from an odd address across two lines, and takes the answer. */
static int32_t send(void) {
    uint8_t *from = place + 64 - 31;
    memcpy(from, message, sizeof message);
    spoil_caches();
    int32_t status = told(cof_gate_call(gate, (uint32_t)(uintptr_t)from, 0, 0, 0));
    memcpy(message, from, sizeof message);
    return status;
}

static void write_text(void) {
    spoil_caches();
    told(cof_gate_call(console, (uint32_t)(uintptr_t)(text + 1), TEXT, 0, 0));
}

/* `s` and `c` with a digit, as a name of 16 bytes that is short. */
static uint32_t name(char letter) {
    return (uint32_t)letter | (uint32_t)('0' + draw(CLIENTS)) << 8;
}

static int32_t ask(uint32_t operation, uint32_t spec, uint32_t bytes, uint32_t address) {
    memset(message, 0, sizeof message);
    message[OPERATION] = operation;
    message[SPEC] = spec;
    message[BYTES] = bytes;
    message[ADDRESS] = address;
    message[LIFE] = cof_restarts();
    if (operation == SHARE || operation == PERMIT || operation == REVOKE || operation == JOIN) {
        message[SHARED] = name('s');
        message[ACCESS] = operation == JOIN ? 1 + 2 * draw(2) : operation == PERMIT && draw(2) ? 3 : 15;
        if (operation == JOIN || operation == PERMIT && draw(2))
            message[DOMAIN] = name('c');
    }
    return send();
}

/* Asks for the remedy of a refusal, a candidate at a time. */
static void look_for_remedy(uint32_t operation, uint32_t spec, uint32_t bytes) {
    for (unsigned tries = 0; tries < 30 && message[0] == REFUSED && message[CHANGE] == UNKNOWN; tries++) {
        uint32_t step = message[STEP];
        memset(message, 0, sizeof message);
        message[OPERATION] = EXPLAIN;
        message[SPEC] = spec;
        message[BYTES] = bytes;
        message[LIFE] = cof_restarts();
        message[REFUSED_OPERATION] = operation | step << STEP_SHIFT;
        if (send() != 0)
            return;
    }
}

static void ask_for_memory(uint32_t operation) {
    static const uint32_t specs[] = {RT_BEST_EFFORT,
                                     RT_L2,
                                     RT_L1,
                                     RT_DETERMINISTIC,
                                     RT_L3,
                                     RT_L2 | RT_DATA_OFF_CHIP,
                                     RT_BEST_EFFORT | RT_INDEPENDENT | RT_ALLOW_PARTIAL};
    uint32_t spec = operation == GRANT ? specs[draw(sizeof specs / sizeof *specs)] : RT_BEST_EFFORT;
    uint32_t bytes = operation == GRANT && draw(3) ? 256u << draw(4) : 4096;
    if (ask(operation, spec, bytes, 0) != 0)
        return;
    if (message[0] == GRANTED && holds < HELD)
        held[holds++] = message[1];
    else
        look_for_remedy(operation, spec, bytes);
}

static void give_back(void) {
    uint32_t which = draw(holds), at = held[which];
    held[which] = held[--holds];
    for (unsigned tries = 0; tries < 40 && ask(RELEASE, 0, 0, at) == COF_E_BUSY; tries++)
        ;
    for (unsigned tries = draw(2) * 20; tries > 0 && ask(SCRUB, 0, 0, at) == 0 && message[0] == DONE && message[1];
         tries--)
        ;
}

int main(void) {
    gate = cof_cap("memory", COF_KIND_GATE);
    console = cof_cap("console", COF_KIND_GATE);
    memset(text, '.', sizeof text);
    text[TEXT] = '\n';
    while (calls < ROUNDS) {
        uint32_t what = draw(100);
        if (what < 30)
            ask_for_memory(GRANT);
        else if (what < 42)
            ask_for_memory(SHARE);
        else if (what < 55)
            ask_for_memory(JOIN);
        else if (what < 61)
            ask(PERMIT, 0, 0, 0);
        else if (what < 66)
            ask(REVOKE, 0, 0, 0);
        else if (what < 84 && holds)
            give_back();
        else if (what < 92 && holds)
            ask(draw(2) ? MAP : QUERY, 0, 0, held[draw(holds)]);
        else if (what < 99)
            write_text();
        else if (draw(8) == 0)
            for (holds = 0; ask(RECLAIM, 0, 0, 0) == 0 && message[0] == DONE && message[1];)
                ;
    }
    return 0;
}
