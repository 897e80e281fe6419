// Sleep in a step: while the core sleeps nothing changes but counters, and these leap. Every entry of the record is the
// same as without.
#pragma once

#include <algorithm>
#include <cstdint>

#include "Vsoc_sim__Dpi.h"

namespace leap {

class Leap {
  public:
    explicit Leap(bool allowed) : allowed_(allowed) {}

    // Behind cycle `cycle`: lets cycles pass of which nobody needs to see one, up to `until`. Returns how many.
    uint64_t over(bool sleeping, uint64_t cycle, uint64_t until) {
        asleep_ = sleeping ? asleep_ + 1 : 0;
        if (!allowed_ || asleep_ < Drained || until <= cycle + 1)
            return 0;
        const uint64_t turn = soc_turn();
        const uint64_t cycles = std::min<uint64_t>(soc_idle_cycles(), (until - (cycle + 1)) / turn * turn);
        if (cycles > 0)
            soc_leap(cycles);
        return cycles;
    }

  private:
    // Cycles after which every request that was made before the core slept is answered: the longest takes 14.
    static constexpr uint64_t Drained = 64;

    bool allowed_;
    uint64_t asleep_ = 0;
};

} // namespace leap
