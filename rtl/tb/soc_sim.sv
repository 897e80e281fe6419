// The SoC with what a simulation sees of it: both ports before and behind the MMU, retired instructions (RVFI), the core's privilege and
// what belongs to its changes, and a way to load memory before reset ends.
module soc_sim
  import cofferdam_pkg::*;
#(
  parameter int unsigned Mmu           = 1,     // mmu_e
  parameter int unsigned DoubleSpeed   = 0,
  parameter int unsigned TlbEntries    = 8,
  parameter int unsigned TableW        = 19,
  parameter int unsigned SramBytesLog2 = 20,
  parameter int unsigned DramBytesLog2 = 26,
  parameter int unsigned SlotCycles    = 3,
  parameter int unsigned TickCycles    = 2
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              irq_external_i,
  input  logic [14:0]       irq_fast_i,

  output logic              put_o,
  output logic              mark_o,
  output logic              stop_o,
  output logic [31:0]       word_o,
  output logic              sleeping_o,

  // Port 0 fetches, port 1 data. Addresses and `we` belong to grants, `err` to responses.
  output logic [1:0]        core_granted_o,
  output logic [1:0][31:0]  core_addr_o,
  output logic [1:0]        core_we_o,
  output logic [1:0]        core_answered_o,
  output logic [1:0]        core_err_o,
  output logic [1:0]        bus_granted_o,
  output logic [1:0][31:0]  bus_addr_o,

  output logic              retired_o,
  output logic              trap_o,
  output logic [1:0]        mode_o,
  output logic [31:0]       pc_o,
  output logic [31:0]       insn_o,
  output logic [4:0]        rd_o,
  output logic [31:0]       rd_word_o,
  output logic [31:0]       mem_addr_o,
  output logic [3:0]        mem_rmask_o,
  output logic [3:0]        mem_wmask_o,
  output logic [31:0]       mem_rdata_o,
  output logic [31:0]       mem_wdata_o,

  // The privilege of what executes now: 3 machine, 0 user. The rest means something in the cycles in which it changes, and pending
  // interrupts that are enabled when the core wakes.
  output logic [1:0]        privilege_o,
  output logic              cause_irq_o,
  output logic [4:0]        cause_o,
  output logic [31:0]       epc_o,
  output logic [31:0]       sp_o,
  output logic [31:0]       a7_o,
  output logic [18:0]       space_o,
  output logic              irq_pending_o,
  output logic [4:0]        irq_o
);

  soc #(
    .Kind(mmu_e'(Mmu)), .DoubleSpeed(1'(DoubleSpeed)), .TlbEntries(TlbEntries), .TableW(TableW),
    .SramBytesLog2(SramBytesLog2), .DramBytesLog2(DramBytesLog2), .SlotCycles(SlotCycles),
    .TickCycles(TickCycles)
  ) u_soc (
    .clk_i, .rst_ni, .irq_external_i, .irq_fast_i, .put_o, .mark_o, .stop_o, .word_o, .sleeping_o
  );

  for (genvar p = 0; p < 2; p++) begin : g_port
    assign core_granted_o[p]  = u_soc.core_req[p] && u_soc.core_gnt[p];
    assign core_addr_o[p]     = u_soc.core_req_data[p].addr;
    assign core_we_o[p]       = u_soc.core_req_data[p].we;
    assign core_answered_o[p] = u_soc.core_rvalid[p];
    assign core_err_o[p]      = u_soc.core_rsp[p].err;
    assign bus_granted_o[p]   = u_soc.phys_req[p] && u_soc.phys_gnt[p];
    assign bus_addr_o[p]      = u_soc.phys_req_data[p].addr;
  end

  assign retired_o   = u_soc.u_core.rvfi_valid;
  assign trap_o      = u_soc.u_core.rvfi_trap;
  assign mode_o      = u_soc.u_core.rvfi_mode;
  assign pc_o        = u_soc.u_core.rvfi_pc_rdata;
  assign insn_o      = u_soc.u_core.rvfi_insn;
  assign rd_o        = u_soc.u_core.rvfi_rd_addr;
  assign rd_word_o   = u_soc.u_core.rvfi_rd_wdata;
  assign mem_addr_o  = u_soc.u_core.rvfi_mem_addr;
  assign mem_rmask_o = u_soc.u_core.rvfi_mem_rmask;
  assign mem_wmask_o = u_soc.u_core.rvfi_mem_wmask;
  assign mem_rdata_o = u_soc.u_core.rvfi_mem_rdata;
  assign mem_wdata_o = u_soc.u_core.rvfi_mem_wdata;

  assign privilege_o = u_soc.u_core.u_ibex_core.cs_registers_i.priv_lvl_q;
  assign cause_irq_o = u_soc.u_core.u_ibex_core.cs_registers_i.mcause_q.irq_ext;
  assign cause_o     = u_soc.u_core.u_ibex_core.cs_registers_i.mcause_q.lower_cause;
  assign epc_o       = u_soc.u_core.u_ibex_core.cs_registers_i.mepc_q;
  assign sp_o        = u_soc.u_core.u_register_file.rf_reg[2];
  assign a7_o        = u_soc.u_core.u_register_file.rf_reg[17];
  assign space_o     = u_soc.u_mmu.mmu_config.base;

  // Numbers of the bits of `mip`; fast interrupts come first, as the core takes them.
  logic [31:0] pending;
  assign pending = {1'b0, u_soc.u_core.u_ibex_core.irqs.irq_fast, 4'b0, u_soc.u_core.u_ibex_core.irqs.irq_external, 3'b0,
                    u_soc.u_core.u_ibex_core.irqs.irq_timer, 3'b0, u_soc.u_core.u_ibex_core.irqs.irq_software, 3'b0};
  always_comb begin
    irq_o = '0;
    for (int i = 31; i >= 0; i--) if (pending[i]) irq_o = 5'(i);
  end
  assign irq_pending_o = pending != '0;

  // Writes one word of physical memory without the bus. Returns 0 when neither local memory nor DRAM is at the address.
  export "DPI-C" function soc_load;
  function automatic int soc_load(input int unsigned addr, input int unsigned word);
    if (addr < 2**SramBytesLog2) u_soc.u_sram.mem[addr[SramBytesLog2-1:2]] = word;
    else if (addr >= DramBase && addr - DramBase < 2**DramBytesLog2) u_soc.u_dram.mem[32'(addr[DramBytesLog2-1:2])] = word;
    else return 0;
    return 1;
  endfunction

  // Reads one; 0 where `soc_load` could write none.
  export "DPI-C" function soc_fetch;
  function automatic int unsigned soc_fetch(input int unsigned addr);
    if (addr < 2**SramBytesLog2) return u_soc.u_sram.mem[addr[SramBytesLog2-1:2]];
    if (addr >= DramBase && addr - DramBase < 2**DramBytesLog2) return u_soc.u_dram.mem[32'(addr[DramBytesLog2-1:2])];
    return 0;
  endfunction

  // A register of the core.
  export "DPI-C" function soc_register;
  function automatic int unsigned soc_register(input int unsigned number);
    return u_soc.u_core.u_register_file.rf_reg[number[4:0]];
  endfunction

  // While the core sleeps and all requests are answered, only these change: the wheel of DRAM, the dividers of ticks, three timers and mcycle. After
  // this many cycles wheel and dividers stand where they stood.
  localparam longint unsigned Turn = 64'(3 * SlotCycles * TickCycles);

  // Ticks until a timer for domains acts.
  function automatic longint unsigned interval_ticks(input logic counts, input logic [31:0] value);
    return counts ? 64'(value) : '1;
  endfunction

  function automatic longint unsigned smaller(input longint unsigned a, input longint unsigned b);
    return a < b ? a : b;
  endfunction

  // Cycles for which a sleeping core can be left alone, because no timer is near its end; a multiple of Turn.
  export "DPI-C" function soc_idle_cycles;
  function automatic longint unsigned soc_idle_cycles();
    longint unsigned ticks;
    // Of a machine timer whose time has come the core knows a cycle later. If it sleeps still, nobody wants to know.
    if (u_soc.u_timer.mtimecmp_q > u_soc.u_timer.mtime_q) ticks = u_soc.u_timer.mtimecmp_q - u_soc.u_timer.mtime_q;
    else ticks = u_soc.u_timer.irq_q && !irq_pending_o ? '1 : 0;
    ticks = smaller(ticks, interval_ticks(u_soc.g_interval[0].u_interval_timer.counts_q,
                                          u_soc.g_interval[0].u_interval_timer.value_q));
    ticks = smaller(ticks, interval_ticks(u_soc.g_interval[1].u_interval_timer.counts_q,
                                          u_soc.g_interval[1].u_interval_timer.value_q));
    ticks = smaller(ticks, 64'd1 << 40);
    return irq_pending_o || ticks < 8 ? 0 : (ticks - 8) * 64'(TickCycles) / Turn * Turn;
  endfunction

  // Lets so many cycles pass at once; at most those of soc_idle_cycles, and a multiple of Turn.
  export "DPI-C" function soc_leap;
  function automatic void soc_leap(input longint unsigned cycles);
    longint unsigned ticks;
    ticks = cycles / 64'(TickCycles);
    u_soc.u_timer.mtime_q = u_soc.u_timer.mtime_q + ticks;
    if (u_soc.g_interval[0].u_interval_timer.counts_q)
      u_soc.g_interval[0].u_interval_timer.value_q = u_soc.g_interval[0].u_interval_timer.value_q - 32'(ticks);
    if (u_soc.g_interval[1].u_interval_timer.counts_q)
      u_soc.g_interval[1].u_interval_timer.value_q = u_soc.g_interval[1].u_interval_timer.value_q - 32'(ticks);
    if (!u_soc.u_core.u_ibex_core.cs_registers_i.mcountinhibit_q[0])
      u_soc.u_core.u_ibex_core.cs_registers_i.mcycle_counter_i.counter_q =
          u_soc.u_core.u_ibex_core.cs_registers_i.mcycle_counter_i.counter_q + cycles;
  endfunction

  // So that whoever leaps keeps to it.
  export "DPI-C" function soc_turn;
  function automatic longint unsigned soc_turn();
    return Turn;
  endfunction

endmodule
