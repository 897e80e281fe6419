// The SoC: one Ibex, an MMU by parameter, local memory, table memories, DRAM, machine timer, two timers for domains, console.
//
// Memory map: cofferdam_pkg. Fast interrupts: 0 console, 1 and 2 timers for domains, and those from outside. Fetches reach local memory and DRAM only. No cache, no branch prediction.
// Every latency is a constant of the parameters: docs/soft-core.md has the table and the command that makes it.
module soc
  import cofferdam_pkg::*;
#(
  parameter mmu_e        Kind          = MmuRtmmu,
  parameter bit          DoubleSpeed   = 1'b0,  // RTMMU: table memory at twice the clock
  parameter int unsigned TlbEntries    = 8,     // Sv32: of each of the two TLBs
  parameter int unsigned TableW        = 19,    // log2 of the entries of each table, all domains together
  parameter int unsigned SramBytesLog2 = 20,
  parameter int unsigned DramBytesLog2 = 26,
  parameter int unsigned SlotCycles    = 3,
  parameter int unsigned TickCycles    = 2      // of the timer: the kernel counts up to 43 million ticks in a second
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        irq_external_i,
  input  logic [14:0] irq_fast_i,

  output logic        put_o,
  output logic        mark_o,
  output logic        stop_o,
  output logic [31:0] word_o,
  output logic        sleeping_o
);

  // Port 0 fetches, port 1 data.
  logic     [1:0] core_req, core_gnt, core_rvalid, phys_req, phys_gnt, phys_rvalid;
  bus_req_t [1:0] core_req_data, phys_req_data;
  bus_rsp_t [1:0] core_rsp, phys_rsp;
  logic           irq_timer, irq_software;
  logic    [14:0] irq_fast;

  core u_core (
    .clk_i, .rst_ni,
    .instr_req_o(core_req[0]), .instr_gnt_i(core_gnt[0]), .instr_addr_o(core_req_data[0].addr),
    .instr_rvalid_i(core_rvalid[0]), .instr_rsp_i(core_rsp[0]),
    .data_req_o(core_req[1]), .data_gnt_i(core_gnt[1]), .data_req_data_o(core_req_data[1]),
    .data_rvalid_i(core_rvalid[1]), .data_rsp_i(core_rsp[1]),
    .irq_software_i(irq_software), .irq_timer_i(irq_timer), .irq_external_i, .irq_fast_i(irq_fast),
    .sleeping_o
  );
  assign core_req_data[0].we    = 1'b0;
  assign core_req_data[0].be    = 4'hf;
  assign core_req_data[0].wdata = '0;

  logic           regs_req, regs_rvalid;
  logic     [2:0] table_req, table_rvalid;
  bus_rsp_t       regs_rsp;
  bus_rsp_t [2:0] table_rsp;

  mmu #(.Kind(Kind), .DoubleSpeed(DoubleSpeed), .TableW(TableW), .TlbEntries(TlbEntries)) u_mmu (
    .clk_i, .rst_ni,
    .core_req_i(core_req), .core_gnt_o(core_gnt), .core_req_data_i(core_req_data),
    .core_rvalid_o(core_rvalid), .core_rsp_o(core_rsp),
    .bus_req_o(phys_req), .bus_gnt_i(phys_gnt), .bus_req_data_o(phys_req_data),
    .bus_rvalid_i(phys_rvalid), .bus_rsp_i(phys_rsp),
    .regs_req_i(regs_req), .regs_rvalid_o(regs_rvalid), .regs_rsp_o(regs_rsp),
    .table_req_i(table_req), .table_rvalid_o(table_rvalid), .table_rsp_o(table_rsp),
    .slave_req_data_i(phys_req_data[1])
  );

  logic     [1:0] sram_req, sram_rvalid, dram_req, dram_gnt, dram_rvalid;
  bus_rsp_t [1:0] sram_rsp, dram_rsp;
  logic           console_req, console_rvalid, timer_req, timer_rvalid;
  bus_rsp_t       console_rsp, timer_rsp;
  logic     [1:0] interval_req, interval_rvalid, irq_interval;
  bus_rsp_t [1:0] interval_rsp;
  logic           irq_console;

  assign irq_fast = irq_fast_i | {12'b0, irq_interval, irq_console};

  bus #(
    .Slaves(2), .Base({DramBase, SramBase}), .SizeLog2({DramBytesLog2, SramBytesLog2})
  ) u_fetch_bus (
    .clk_i, .rst_ni,
    .req_i(phys_req[0]), .gnt_o(phys_gnt[0]), .req_data_i(phys_req_data[0]),
    .rvalid_o(phys_rvalid[0]), .rsp_o(phys_rsp[0]),
    .slave_req_o({dram_req[0], sram_req[0]}), .slave_gnt_i({dram_gnt[0], 1'b1}),
    .slave_rvalid_i({dram_rvalid[0], sram_rvalid[0]}), .slave_rsp_i({dram_rsp[0], sram_rsp[0]})
  );

  // Windows A and B hold two tables each.
  bus #(
    .Slaves(10),
    .Base({Timer2Base, Timer1Base, TimerBase, ConsoleBase, MmuBase, TableDBase, TableBBase, TableABase, DramBase, SramBase}),
    .SizeLog2({32'd12, 32'd12, 32'd16, 32'd16, 32'd16, TableW + 2, TableW + 3, TableW + 3, DramBytesLog2, SramBytesLog2})
  ) u_data_bus (
    .clk_i, .rst_ni,
    .req_i(phys_req[1]), .gnt_o(phys_gnt[1]), .req_data_i(phys_req_data[1]),
    .rvalid_o(phys_rvalid[1]), .rsp_o(phys_rsp[1]),
    .slave_req_o({interval_req, timer_req, console_req, regs_req, table_req, dram_req[1], sram_req[1]}),
    .slave_gnt_i({8'hff, dram_gnt[1], 1'b1}),
    .slave_rvalid_i({interval_rvalid, timer_rvalid, console_rvalid, regs_rvalid, table_rvalid, dram_rvalid[1], sram_rvalid[1]}),
    .slave_rsp_i({interval_rsp, timer_rsp, console_rsp, regs_rsp, table_rsp, dram_rsp[1], sram_rsp[1]})
  );

  sram #(.BytesLog2(SramBytesLog2)) u_sram (
    .clk_i, .rst_ni, .req_i(sram_req), .req_data_i(phys_req_data), .rvalid_o(sram_rvalid), .rsp_o(sram_rsp)
  );

  dram #(.BytesLog2(DramBytesLog2), .SlotCycles(SlotCycles)) u_dram (
    .clk_i, .rst_ni, .req_i(dram_req), .gnt_o(dram_gnt), .req_data_i(phys_req_data), .rvalid_o(dram_rvalid),
    .rsp_o(dram_rsp)
  );

  timer #(.TickCycles(TickCycles)) u_timer (
    .clk_i, .rst_ni, .bus_req_i(timer_req), .bus_req_data_i(phys_req_data[1]),
    .bus_rvalid_o(timer_rvalid), .bus_rsp_o(timer_rsp), .irq_timer_o(irq_timer), .irq_software_o(irq_software)
  );

  for (genvar i = 0; i < 2; i++) begin : g_interval
    interval_timer #(.TickCycles(TickCycles)) u_interval_timer (
      .clk_i, .rst_ni, .bus_req_i(interval_req[i]), .bus_req_data_i(phys_req_data[1]),
      .bus_rvalid_o(interval_rvalid[i]), .bus_rsp_o(interval_rsp[i]), .irq_o(irq_interval[i])
    );
  end

  console u_console (
    .clk_i, .rst_ni, .bus_req_i(console_req), .bus_req_data_i(phys_req_data[1]),
    .bus_rvalid_o(console_rvalid), .bus_rsp_o(console_rsp), .irq_o(irq_console), .put_o, .mark_o, .stop_o, .word_o
  );

  if (TableW > 20 || TableW < 11) begin : g_table_width
    $fatal(1, "TableW has to be 11 to 20: a window of table memory has 16 MiB, and a table of Sv32 1024 entries");
  end

endmodule
