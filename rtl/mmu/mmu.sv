// The MMU of the SoC, chosen by the parameter Kind: both ports of the core on one side, two physical ports on the other.
//
// Port 0 fetches, port 1 data. The kernel's registers and table memories hang on the data side of the physical bus.
// A further MMU (MmuCvm) joins in mmu_tables: it has to answer `start` with `done`, `hit` and `frame`.
// Latency and faults: see mmu_port and the look-up modules.
module mmu
  import cofferdam_pkg::*;
#(
  parameter mmu_e        Kind        = MmuRtmmu,
  parameter bit          DoubleSpeed = 1'b0,   // RTMMU only
  parameter int unsigned TableW      = 19,
  parameter int unsigned TlbEntries  = 0       // Sv32 only
) (
  input  logic           clk_i,
  input  logic           rst_ni,

  input  logic     [1:0] core_req_i,
  output logic     [1:0] core_gnt_o,
  input  bus_req_t [1:0] core_req_data_i,
  output logic     [1:0] core_rvalid_o,
  output bus_rsp_t [1:0] core_rsp_o,

  output logic     [1:0] bus_req_o,
  input  logic     [1:0] bus_gnt_i,
  output bus_req_t [1:0] bus_req_data_o,
  input  logic     [1:0] bus_rvalid_i,
  input  bus_rsp_t [1:0] bus_rsp_i,

  input  logic           regs_req_i,
  output logic           regs_rvalid_o,
  output bus_rsp_t       regs_rsp_o,
  input  logic     [2:0] table_req_i,
  output logic     [2:0] table_rvalid_o,
  output bus_rsp_t [2:0] table_rsp_o,
  input  bus_req_t       slave_req_data_i
);

  mmu_config_t mmu_config;
  logic        flush;

  mmu_regs #(
    .Kind(Kind), .TableW(TableW),
    .DoubleSpeed(Kind == MmuRtmmu && DoubleSpeed),
    .TlbEntries(Kind == MmuSv32 ? TlbEntries : 0)
  ) u_regs (
    .clk_i, .rst_ni, .bus_req_i(regs_req_i), .bus_req_data_i(slave_req_data_i),
    .bus_rvalid_o(regs_rvalid_o), .bus_rsp_o(regs_rsp_o), .config_o(mmu_config), .flush_o(flush)
  );

  if (Kind == MmuNone) begin : g_none
    for (genvar p = 0; p < 2; p++) begin : g_port
      logic [31:0] addr;
      mmu_none u_mmu (.addr_i(core_req_data_i[p].addr), .addr_o(addr));
      always_comb begin
        bus_req_data_o[p]      = core_req_data_i[p];
        bus_req_data_o[p].addr = addr;
      end
    end
    assign bus_req_o     = core_req_i;
    assign core_gnt_o    = bus_gnt_i;
    assign core_rvalid_o = bus_rvalid_i;
    assign core_rsp_o    = bus_rsp_i;

    logic [2:0] rvalid_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) rvalid_q <= '0;
      else rvalid_q <= table_req_i;
    end
    assign table_rvalid_o = rvalid_q;
    assign table_rsp_o    = {3{1'b1, 32'b0}};

    logic unused;
    assign unused = ^{mmu_config, flush};
  end else begin : g_translating
    logic    [1:0] start, done, hit;
    page_t   [1:0] page;
    frame_t  [1:0] frame;
    access_e       access [2];

    assign access[0] = AccessFetch;
    assign access[1] = core_req_data_i[1].we ? AccessStore : AccessLoad;

    for (genvar p = 0; p < 2; p++) begin : g_port
      mmu_port u_port (
        .clk_i, .rst_ni,
        .core_req_i(core_req_i[p]), .core_gnt_o(core_gnt_o[p]), .core_req_data_i(core_req_data_i[p]),
        .core_rvalid_o(core_rvalid_o[p]), .core_rsp_o(core_rsp_o[p]),
        .bus_req_o(bus_req_o[p]), .bus_gnt_i(bus_gnt_i[p]), .bus_req_data_o(bus_req_data_o[p]),
        .bus_rvalid_i(bus_rvalid_i[p]), .bus_rsp_i(bus_rsp_i[p]),
        .start_o(start[p]), .page_o(page[p]), .done_i(done[p]), .hit_i(hit[p]), .frame_i(frame[p])
      );
    end

    mmu_tables #(.Kind(Kind), .DoubleSpeed(DoubleSpeed), .TableW(TableW), .TlbEntries(TlbEntries)) u_tables (
      .clk_i, .rst_ni, .config_i(mmu_config), .flush_i(flush),
      .start_i(start), .page_i(page), .access_i(access), .done_o(done), .hit_o(hit), .frame_o(frame),
      .bus_req_i(table_req_i), .bus_req_data_i(slave_req_data_i),
      .bus_rvalid_o(table_rvalid_o), .bus_rsp_o(table_rsp_o)
    );
  end

  if (Kind == MmuCvm) begin : g_reserved
    $fatal(1, "MmuCvm is reserved and not built yet");
  end

endmodule
