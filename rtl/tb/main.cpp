// Runs a program on the simulated SoC: loads its ELF file, clocks until it stops, and says how many cycles that took.
//
//   soc_sim PROGRAM.elf [--max-cycles N] [--trace FILE] [--accesses FILE] [--latencies]
//           [--console FILE] [--record FILE --port ADDRESS --clock ADDRESS [--frames FILE] [--stores] [--probe
//           ADDRESS]...
//           [--faults EVENT --stack-bytes N]] [--every-cycle] [--waves FILE --waves-from N --waves-to N]
//
// --trace      one line for each retired instruction (from RVFI)
// --accesses   one line for each response of the two memory ports of the core
// --latencies  afterwards, on standard error: cycles from grant to response of all accesses, by port, by kind, by
// target
//
// --console    the program's console, instead of standard output
// --record     entries for the observer of a run (record.hpp), "-" on standard output; the trace port and the clock's
// register are at these addresses
// --frames     memory that domains have (frames.hpp): the record tells of every translated access to other memory
// --stores     the record tells of every store that reaches the bus
// --faults     before each record with this number: registers and so many bytes of the stack of the thread that faulted
// --waves      an FST file of all signals in these cycles; a model without tracing refuses it
// --every-cycle  simulates each cycle, those in which the core sleeps, too
// --probe      the record tells of every execution of the instruction at this address
//
// Standard output is the program's console. Exit code: the program's; 124 when N cycles have passed, 2 for wrong usage.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <unordered_set>
#include <utility>

#include "Vsoc_sim.h"
#include "Vsoc_sim__Dpi.h"
#include "elf.hpp"
#include "frames.hpp"
#include "leap.hpp"
#include "record.hpp"
#include "waves.hpp"
#include "svdpi.h"
#include "verilated.h"

namespace {

constexpr int ResetCycles = 8;
constexpr uint32_t Ecall = 0x73;

struct Options {
    const char *program = nullptr;
    uint64_t max_cycles = 100'000'000;
    FILE *trace = nullptr;
    FILE *accesses = nullptr;
    bool latencies = false;
    FILE *console = stdout;
    FILE *record = nullptr;
    uint32_t port = 0;
    uint32_t clock = 0;
    frames::Frames frames;
    bool stores = false;
    record::Faults faults;
    std::unordered_set<uint32_t> probes;
    bool every_cycle = false;
    const char *waves = nullptr;
    uint64_t waves_from = 0;
    uint64_t waves_to = UINT64_MAX;
};

// A request that a port has granted and not yet answered.
struct Pending {
    uint64_t granted;
    uint32_t address;
    bool write;
    bool behind; // granted while another one of the port was not answered yet: it has waited for that one
    uint32_t space;
    bool mapped = false;
    uint32_t physical = 0;

    frames::Access access(int port) const { return port == 0 ? frames::Fetch : write ? frames::Store : frames::Load; }
};

class Ports {
  public:
    Ports(const Options &options, record::Recorder &recorder) : options_(options), recorder_(recorder) {}

    void sample(const Vsoc_sim &soc, uint64_t cycle, uint64_t retired) {
        for (int port = 0; port < 2; port++) {
            // In the protocol a response never comes in the cycle of its grant.
            if (soc.core_answered_o >> port & 1)
                answer(port, cycle, soc.core_err_o >> port & 1);
            if (soc.core_granted_o >> port & 1)
                pending_[port].push_back({cycle, word(soc.core_addr_o, port), bool(soc.core_we_o >> port & 1),
                                          !pending_[port].empty(), soc.space_o});
            if (soc.bus_granted_o >> port & 1)
                if (const Pending *request = attach(port, word(soc.bus_addr_o, port))) {
                    check(*request, port, cycle, retired);
                    if (options_.stores && request->write)
                        recorder_.wrote(soc, cycle, retired, request->physical);
                }
        }
    }

    void report() const {
        for (const auto &[key, accesses] : histogram_) {
            const auto &[what, latency] = key;
            std::fprintf(stderr, "latency %-58s %3u cycles %10llu accesses\n", what.c_str(), latency,
                         static_cast<unsigned long long>(accesses));
        }
    }

  private:
    // Packed arrays of 64 bits are one integer for Verilator.
    static uint32_t word(uint64_t pair, int port) { return static_cast<uint32_t>(pair >> (32 * port)); }

    // The bus serves requests in order: the oldest one without a physical address has it now.
    const Pending *attach(int port, uint32_t physical) {
        for (auto &request : pending_[port])
            if (!request.mapped) {
                request.mapped = true;
                request.physical = physical;
                return &request;
            }
        return nullptr;
    }

    void check(const Pending &request, int port, uint64_t cycle, uint64_t retired) {
        if (options_.frames.empty() || request.address >> 31 == 0)
            return;
        const frames::Access access = request.access(port);
        if (!options_.frames.has(request.space, access, request.physical))
            recorder_.strayed(cycle, retired, access, request.physical, request.space);
    }

    void answer(int port, uint64_t cycle, bool err) {
        const Pending request = pending_[port].front();
        pending_[port].pop_front();
        const unsigned latency = static_cast<unsigned>(cycle - request.granted);
        const char *kind = port == 0 ? "fetch" : request.write ? "store" : "load";
        if (options_.accesses)
            std::fprintf(options_.accesses, "%llu %s %08x %08x %s %u\n",
                         static_cast<unsigned long long>(request.granted), kind, request.address, request.physical,
                         err ? "fault" : "done", latency);
        if (!options_.latencies)
            return;
        std::string what = std::string(kind) + (request.address >> 31 ? " translated" : " untranslated");
        what += err                      ? " fault"
                : request.physical >> 30 ? " DRAM"
                : request.physical >> 28 ? " device or table"
                                         : " local";
        if (request.behind)
            what += ", behind another";
        histogram_[{what, latency}]++;
    }

    const Options &options_;
    record::Recorder &recorder_;
    std::array<std::deque<Pending>, 2> pending_;
    std::map<std::pair<std::string, unsigned>, uint64_t> histogram_;
};

[[noreturn]] void usage(const char *why) {
    std::fprintf(
        stderr,
        "soc_sim: %s\nusage: soc_sim PROGRAM.elf [--max-cycles N] [--trace FILE] [--accesses FILE] [--latencies]\n"
        "               [--console FILE] [--record FILE --port ADDRESS --clock ADDRESS [--frames FILE] [--stores]\n"
        "               [--probe ADDRESS]... [--faults EVENT --stack-bytes N]]\n"
        "               [--every-cycle] [--waves FILE --waves-from N --waves-to N]\n",
        why);
    std::exit(2);
}

// "-" is the standard output that the process was given. It is named by its number: `/dev/stdout` can be missing or replaced.
FILE *create(const char *path) {
    FILE *file = std::strcmp(path, "-") == 0 ? fdopen(dup(STDOUT_FILENO), "w") : std::fopen(path, "w");
    if (!file)
        usage((std::string("cannot write ") + path).c_str());
    return file;
}

Options parse(int argc, char **argv) {
    Options options;
    for (int i = 1; i < argc; i++) {
        const std::string argument = argv[i];
        const auto value = [&] {
            if (++i == argc)
                usage((argument + " needs a value").c_str());
            return argv[i];
        };
        if (argument == "--max-cycles")
            options.max_cycles = std::strtoull(value(), nullptr, 0);
        else if (argument == "--trace")
            options.trace = create(value());
        else if (argument == "--accesses")
            options.accesses = create(value());
        else if (argument == "--latencies")
            options.latencies = true;
        else if (argument == "--console")
            options.console = create(value());
        else if (argument == "--record")
            options.record = create(value());
        else if (argument == "--port")
            options.port = static_cast<uint32_t>(std::strtoul(value(), nullptr, 0));
        else if (argument == "--clock")
            options.clock = static_cast<uint32_t>(std::strtoul(value(), nullptr, 0));
        else if (argument == "--every-cycle")
            options.every_cycle = true;
        else if (argument == "--waves")
            options.waves = value();
        else if (argument == "--waves-from")
            options.waves_from = std::strtoull(value(), nullptr, 0);
        else if (argument == "--waves-to")
            options.waves_to = std::strtoull(value(), nullptr, 0);
        else if (argument == "--probe")
            options.probes.insert(static_cast<uint32_t>(std::strtoul(value(), nullptr, 0)));
        else if (argument == "--frames") {
            if (!options.frames.read(value()))
                usage("the file of frames is none");
        } else if (argument == "--stores")
            options.stores = true;
        else if (argument == "--faults")
            options.faults.event = static_cast<uint32_t>(std::strtoul(value(), nullptr, 0));
        else if (argument == "--stack-bytes")
            options.faults.stack_bytes = static_cast<uint32_t>(std::strtoul(value(), nullptr, 0));
        else if (argument[0] == '+')
            continue; // Verilator's own
        else if (argument[0] == '-' || options.program)
            usage(("unknown argument " + argument).c_str());
        else
            options.program = argv[i];
    }
    if (!options.program)
        usage("no program");
    if (options.waves && !waves::Traced)
        usage("this model has no tracing; the one whose name ends in -waves does");
    // The core prints a line for each illegal instruction, of which a domain's atomic ones are some; the record may be
    // on the same pipe.
    if (options.record && options.console != stdout && !std::freopen("/dev/null", "w", stdout))
        usage("/dev/null cannot be opened");
    return options;
}

// RVFI's masks say something for every instruction; only those of loads and stores mean an access.
bool is_load(uint32_t insn) {
    const unsigned quadrant = insn & 3, funct3 = insn >> 13 & 7;
    if (quadrant == 3)
        return (insn & 0x7f) == 0x03;
    return (quadrant == 0 || quadrant == 2) && funct3 == 2; // c.lw, c.lwsp
}
bool is_store(uint32_t insn) {
    const unsigned quadrant = insn & 3, funct3 = insn >> 13 & 7;
    if (quadrant == 3)
        return (insn & 0x7f) == 0x23;
    return (quadrant == 0 || quadrant == 2) && funct3 == 6; // c.sw, c.swsp
}

void retire(FILE *trace, const Vsoc_sim &soc, uint64_t cycle) {
    std::fprintf(trace, "%llu %c %08x %08x", static_cast<unsigned long long>(cycle), soc.mode_o == 3 ? 'M' : 'U',
                 soc.pc_o, soc.insn_o);
    if (soc.trap_o)
        std::fputs(" trap", trace);
    else if (soc.rd_o)
        std::fprintf(trace, " x%u=%08x", soc.rd_o, soc.rd_word_o);
    if (is_load(soc.insn_o))
        std::fprintf(trace, " load %08x/%x %08x", soc.mem_addr_o, soc.mem_rmask_o, soc.mem_rdata_o);
    if (is_store(soc.insn_o))
        std::fprintf(trace, " store %08x/%x %08x", soc.mem_addr_o, soc.mem_wmask_o, soc.mem_wdata_o);
    std::fputc('\n', trace);
}

} // namespace

int main(int argc, char **argv) {
    const Options options = parse(argc, argv);
    const auto context = std::make_unique<VerilatedContext>();
    // Memories and registers hold anything when power comes: here always the same. Arguments of Verilator's choose
    // something else.
    context->randReset(2);
    context->randSeed(1);
    context->commandArgs(argc, argv);
    waves::Waves drawn(*context, options.waves, options.waves_from, options.waves_to);
    const auto soc = std::make_unique<Vsoc_sim>(context.get());
    soc->clk_i = 0;
    soc->rst_ni = 1;
    soc->irq_external_i = 0;
    soc->irq_fast_i = 0;
    soc->eval();
    svSetScope(svGetScopeFromName("TOP.soc_sim"));
    const auto load = [](uint32_t address, uint32_t word) { return soc_load(address, word) != 0; };
    if (const std::string error = elf::load(options.program, load); !error.empty())
        usage(error.c_str());

    uint64_t cycle = 0;
    uint64_t retired = 0;
    uint32_t status = 124;
    bool stopped = false;
    const bool ports_read = options.accesses || options.latencies || options.stores || !options.frames.empty();
    record::Faults faults = options.faults;
    faults.frames = &options.frames;
    faults.reg = soc_register;
    faults.word = soc_fetch;
    record::Recorder recorder(options.record, options.port, options.clock, faults);
    Ports ports(options, recorder);
    leap::Leap sleep(!options.every_cycle);
    soc->rst_ni = 0; // a falling edge, so that asynchronous resets take place
    for (int i = 0; i < ResetCycles; i++) {
        soc->clk_i = 1;
        soc->eval();
        soc->clk_i = 0;
        soc->eval();
    }
    soc->rst_ni = 1;
    soc->eval();
    for (; cycle < options.max_cycles && !context->gotFinish(); cycle++) {
        // Just before the rising edge all signals of the cycle stand.
        if (ports_read)
            ports.sample(*soc, cycle, retired);
        if (soc->retired_o) {
            retired++;
            if (options.trace)
                retire(options.trace, *soc, cycle);
            // One that faults, as at a first touch, will be executed again; a call is a trap, too.
            if (options.record && options.probes.count(soc->pc_o) && (!soc->trap_o || soc->insn_o == Ecall))
                recorder.reached(cycle, retired, soc->pc_o);
            if (options.record && !soc->trap_o) {
                if (is_load(soc->insn_o))
                    recorder.loaded(*soc, cycle, retired);
                else if (is_store(soc->insn_o))
                    recorder.stored(*soc, cycle, retired);
            }
        }
        if (options.record)
            recorder.sample(*soc, cycle, retired);
        if (soc->put_o) {
            const int character = static_cast<int>(soc->word_o & 0xff);
            std::fputc(character, options.console);
            if (character == '\n')
                std::fflush(options.console);
        }
        if (soc->mark_o)
            std::fprintf(stderr, "mark %llu %08x\n", static_cast<unsigned long long>(cycle), soc->word_o);
        if (soc->stop_o) {
            status = soc->word_o;
            stopped = true;
            break;
        }
        drawn.sample(*soc, cycle, 0);
        soc->clk_i = 1;
        soc->eval();
        drawn.sample(*soc, cycle, 1);
        soc->clk_i = 0;
        soc->eval();
        const uint64_t alive = (cycle / record::Recorder::AliveEvery + 1) * record::Recorder::AliveEvery;
        const uint64_t until = std::min({alive, options.max_cycles, drawn.next(cycle + 1)});
        if (const uint64_t cycles = sleep.over(soc->sleeping_o, cycle, until)) {
            cycle += cycles;
            soc->eval();
        }
    }
    drawn.close();
    std::fflush(options.console);
    if (options.record)
        recorder.end(cycle, retired, status, !stopped);
    const int code = static_cast<int>(status & 0xff);
    std::fprintf(stderr, "end cycles=%llu instructions=%llu code=%d\n", static_cast<unsigned long long>(cycle),
                 static_cast<unsigned long long>(retired), code);
    if (options.latencies)
        ports.report();
    soc->final();
    for (FILE *file : {options.trace, options.accesses, options.record})
        if (file)
            std::fclose(file);
    return code;
}
