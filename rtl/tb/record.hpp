// The record of a run for its observer (sim/soft-core): a stream of entries of 32 bytes, little-endian. Each has a
// cycle, the instructions that were retired before its end, a kind (kinds.hpp) and three words.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>

#include "Vsoc_sim.h"
#include "frames.hpp"
#include "kinds.hpp"

namespace record {

struct Entry {
    uint64_t cycle;
    uint64_t instructions;
    uint32_t kind;
    uint32_t words[3];
};
static_assert(sizeof(Entry) == 32);

// How a domain's thread is looked at when the kernel has recorded its fault.
struct Faults {
    uint32_t event = 0; // the number of that record; 0: it is not looked at
    uint32_t stack_bytes = 0;
    const frames::Frames *frames = nullptr;
    uint32_t (*reg)(uint32_t number) = nullptr;
    uint32_t (*word)(uint32_t physical) = nullptr;
};

// Watches the core in each cycle.
class Recorder {
  public:
    // `port`: address of the trace port; `clock`: of the clock's register.
    Recorder(FILE *file, uint32_t port, uint32_t clock, Faults faults)
        : file_(file), port_(port), clock_(clock), faults_(faults) {}

    // An instruction at a probe's address was retired.
    void reached(uint64_t cycle, uint64_t retired, uint32_t pc) { put(cycle, retired, Reached, {pc, 0, 0}); }

    // An instruction was retired that loads, or stores.
    void loaded(const Vsoc_sim &soc, uint64_t cycle, uint64_t retired) {
        if (soc.mem_addr_o == clock_)
            put(cycle, retired, Clock, {soc.mem_rdata_o, 0, 0});
    }
    void stored(const Vsoc_sim &soc, uint64_t cycle, uint64_t retired) {
        if (soc.mem_addr_o == port_)
            payload_ = soc.mem_wdata_o;
        if (soc.mem_addr_o == port_ + 4) {
            if (faults_.event != 0 && (soc.mem_wdata_o & 0xff) == faults_.event)
                thread(cycle, retired);
            put(cycle, retired, Traced, {soc.mem_wdata_o, payload_, 0});
        }
    }

    // Behind everything else of the cycle.
    void sample(const Vsoc_sim &soc, uint64_t cycle, uint64_t retired) {
        if (soc.privilege_o != privilege_) {
            privilege_ = soc.privilege_o;
            if (privilege_ == Machine) {
                put(cycle, retired, Entered, {uint32_t{soc.cause_irq_o} << 31 | soc.cause_o, soc.epc_o, soc.a7_o});
                hold(soc);
            } else
                put(cycle, retired, Left, {soc.epc_o, soc.sp_o, soc.space_o});
        }
        if (bool(soc.sleeping_o) != sleeping_) {
            sleeping_ = !sleeping_;
            if (sleeping_)
                asleep_ = cycle;
            else
                put(cycle, retired, Woke, {uint32_t(cycle - asleep_), soc.irq_o, soc.irq_pending_o});
        }
        if (cycle % AliveEvery == 0) {
            put(cycle, retired, Alive, {0, 0, 0});
            std::fflush(file_);
        }
    }

    void strayed(uint64_t cycle, uint64_t retired, uint32_t kind, uint32_t physical, uint32_t space) {
        put(cycle, retired, Strayed, {kind, physical, space});
    }

    void wrote(const Vsoc_sim &soc, uint64_t cycle, uint64_t retired, uint32_t physical) {
        put(cycle, retired, Stored, {physical & ~3U, soc.privilege_o == Machine, 0});
    }

    void end(uint64_t cycle, uint64_t retired, uint32_t status, bool limit) {
        if (sleeping_)
            put(cycle, retired, Woke, {uint32_t(cycle - asleep_), 0, 0});
        put(cycle, retired, Ended, {status, limit, 0});
        std::fflush(file_);
    }

    static constexpr uint64_t AliveEvery = 1 << 17;

  private:
    static constexpr uint8_t Machine = 3;
    static constexpr uint8_t Ecall = 8;
    static constexpr uint32_t Sp = 2, Registers = 32, PageBytes = 4096;

    // Keeps the registers of a thread that may have faulted: an interrupt or a call says nothing of it.
    void hold(const Vsoc_sim &soc) {
        held_any_ = faults_.event != 0 && !soc.cause_irq_o && soc.cause_o != Ecall;
        if (!held_any_)
            return;
        space_ = soc.space_o;
        for (uint32_t number = 1; number < Registers; number++)
            held_[number] = faults_.reg(number);
    }

    // Registers, and the stack from its pointer on: where that has left the stack downwards, from the next page on.
    void thread(uint64_t cycle, uint64_t retired) {
        if (!held_any_)
            return;
        held_any_ = false;
        for (uint32_t number = 0; number < Registers; number += 2)
            put(cycle, retired, Held, {number, held_[number], held_[number + 1]});
        uint32_t at = held_[Sp] & ~7U;
        if (!faults_.frames->physical(space_, at))
            at = (at | (PageBytes - 1)) + 1;
        for (uint32_t end = at + faults_.stack_bytes; at < end; at += 8) {
            const auto physical = faults_.frames->physical(space_, at);
            if (!physical)
                break;
            put(cycle, retired, OnStack, {at, faults_.word(*physical), faults_.word(*physical + 4)});
        }
    }

    void put(uint64_t cycle, uint64_t retired, Kind kind, const std::array<uint32_t, 3> &words) {
        const Entry entry = {cycle, retired, kind, {words[0], words[1], words[2]}};
        if (std::fwrite(&entry, sizeof entry, 1, file_) != 1)
            std::exit(3); // whoever reads is gone
    }

    FILE *file_;
    uint32_t port_, clock_, payload_ = 0;
    Faults faults_;
    std::array<uint32_t, Registers> held_ = {};
    bool held_any_ = false;
    uint32_t space_ = 0;
    uint8_t privilege_ = Machine;
    bool sleeping_ = false;
    uint64_t asleep_ = 0;
};

} // namespace record
