// Waveforms of a stretch of a run, as FST. A model has them when it was made with tracing; others are as fast as if
// this were not here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "Vsoc_sim.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace waves {

constexpr bool Traced = VM_TRACE;

// One unit of time in the file is half a cycle.
class Waves {
  public:
    // From cycle `from` to the one before `to`. `file` is null for none. Before the model is made.
    Waves(VerilatedContext &context, const char *file, uint64_t from, uint64_t to) : file_(file), from_(from), to_(to) {
        if (Traced && file_)
            context.traceEverOn(true);
    }

    // The signals in a half of a cycle.
    void sample(Vsoc_sim &soc, uint64_t cycle, unsigned half) {
        if (!Traced || !file_ || cycle < from_)
            return;
        if (cycle >= to_) {
            close();
            return;
        }
#if VM_TRACE
        if (!trace_) {
            trace_ = std::make_unique<VerilatedFstC>();
            soc.trace(trace_.get(), 99);
            trace_->open(file_);
        }
        trace_->dump(2 * cycle + half);
#else
        (void)soc;
        (void)half;
#endif
    }

    // The next cycle that has to be simulated for it.
    uint64_t next(uint64_t cycle) const { return Traced && file_ ? std::max(cycle, from_) : UINT64_MAX; }

    void close() {
#if VM_TRACE
        if (trace_)
            trace_->close();
        trace_.reset();
#endif
        file_ = nullptr;
    }

  private:
    const char *file_;
    uint64_t from_, to_;
#if VM_TRACE
    std::unique_ptr<VerilatedFstC> trace_;
#endif
};

} // namespace waves
