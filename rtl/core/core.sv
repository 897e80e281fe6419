// Ibex as it is published, configuration `small` of its ibex_configs.yaml, with U-mode and PMP of one entry, and its
// register file of flip-flops. Ports are the core's own; see its documentation.
//
// Reset: the first instruction is fetched at 0x80; traps go to mtvec, which is 0 after reset (vectored).
module core
  import cofferdam_pkg::*;
  import ibex_pkg::*;
#(
  parameter int unsigned PmpEntries = 1  // 0: to compare areas; nothing would keep U-mode out of the lower half
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  output logic        instr_req_o,
  input  logic        instr_gnt_i,
  output logic [31:0] instr_addr_o,
  input  logic        instr_rvalid_i,
  input  bus_rsp_t    instr_rsp_i,

  output logic        data_req_o,
  input  logic        data_gnt_i,
  output bus_req_t    data_req_data_o,
  input  logic        data_rvalid_i,
  input  bus_rsp_t    data_rsp_i,

  input  logic        irq_software_i,
  input  logic        irq_timer_i,
  input  logic        irq_external_i,
  input  logic [14:0] irq_fast_i,

  output logic        sleeping_o
);

  logic [4:0]  raddr_a, raddr_b, waddr;
  logic        we;
  logic [31:0] wdata, rdata_a, rdata_b;
  ibex_mubi_t  busy;

  // There is no instruction cache; its memories read zero.
  logic [IC_TAG_SIZE-1:0]  tag_rdata  [IC_NUM_WAYS];
  logic [IC_LINE_SIZE-1:0] line_rdata [IC_NUM_WAYS];
  for (genvar i = 0; i < IC_NUM_WAYS; i++) begin : g_no_cache
    assign tag_rdata[i]  = '0;
    assign line_rdata[i] = '0;
  end

`ifdef RVFI
  // Read by the test bench, by name.
  logic        rvfi_valid, rvfi_trap;
  logic [1:0]  rvfi_mode;
  logic [31:0] rvfi_insn, rvfi_pc_rdata, rvfi_mem_addr, rvfi_mem_rdata, rvfi_mem_wdata, rvfi_rd_wdata;
  logic [4:0]  rvfi_rd_addr;
  logic [3:0]  rvfi_mem_rmask, rvfi_mem_wmask;
`endif

  ibex_core #(
    .PMPEnable        (PmpEntries != 0),
    .PMPGranularity   (0),
    .PMPNumRegions    (PmpEntries == 0 ? 1 : PmpEntries),
    .MHPMCounterNum   (0),
    .MHPMCounterWidth (40),
    .RV32E            (1'b0),
    .RV32M            (RV32MFast),
    .RV32B            (RV32BNone),
    .BranchTargetALU  (1'b0),
    .WritebackStage   (1'b0),
    .ICache           (1'b0),
    .ICacheECC        (1'b0),
    .BranchPredictor  (1'b0),
    .DbgTriggerEn     (1'b0),
    .SecureIbex       (1'b0)
  ) u_ibex_core (
    .clk_i, .rst_ni, .hart_id_i(32'd0), .boot_addr_i(SramBase),
    .instr_req_o, .instr_gnt_i, .instr_rvalid_i, .instr_addr_o,
    .instr_rdata_i(instr_rsp_i.rdata), .instr_err_i(instr_rsp_i.err),
    .data_req_o, .data_gnt_i, .data_rvalid_i,
    .data_we_o(data_req_data_o.we), .data_be_o(data_req_data_o.be), .data_addr_o(data_req_data_o.addr),
    .data_wdata_o(data_req_data_o.wdata), .data_rdata_i(data_rsp_i.rdata), .data_err_i(data_rsp_i.err),
    .dummy_instr_id_o(), .dummy_instr_wb_o(),
    .rf_raddr_a_o(raddr_a), .rf_raddr_b_o(raddr_b), .rf_waddr_wb_o(waddr), .rf_we_wb_o(we),
    .rf_wdata_wb_ecc_o(wdata), .rf_rdata_a_ecc_i(rdata_a), .rf_rdata_b_ecc_i(rdata_b),
    .ic_tag_req_o(), .ic_tag_write_o(), .ic_tag_addr_o(), .ic_tag_wdata_o(), .ic_tag_rdata_i(tag_rdata),
    .ic_data_req_o(), .ic_data_write_o(), .ic_data_addr_o(), .ic_data_wdata_o(), .ic_data_rdata_i(line_rdata),
    .ic_scr_key_valid_i(1'b1), .ic_scr_key_req_o(),
    .irq_software_i, .irq_timer_i, .irq_external_i, .irq_fast_i, .irq_nm_i(1'b0), .irq_pending_o(),
    .debug_req_i(1'b0), .crash_dump_o(), .double_fault_seen_o(),
`ifdef RVFI
    .rvfi_valid, .rvfi_order(), .rvfi_insn, .rvfi_trap, .rvfi_halt(), .rvfi_intr(), .rvfi_mode, .rvfi_ixl(),
    .rvfi_rs1_addr(), .rvfi_rs2_addr(), .rvfi_rs3_addr(), .rvfi_rs1_rdata(), .rvfi_rs2_rdata(), .rvfi_rs3_rdata(),
    .rvfi_rd_addr, .rvfi_rd_wdata, .rvfi_pc_rdata, .rvfi_pc_wdata(),
    .rvfi_mem_addr, .rvfi_mem_rmask, .rvfi_mem_wmask, .rvfi_mem_rdata, .rvfi_mem_wdata,
    .rvfi_ext_pre_mip(), .rvfi_ext_post_mip(), .rvfi_ext_nmi(), .rvfi_ext_nmi_int(), .rvfi_ext_debug_req(),
    .rvfi_ext_debug_mode(), .rvfi_ext_rf_wr_suppress(), .rvfi_ext_mcycle(), .rvfi_ext_mhpmcounters(),
    .rvfi_ext_mhpmcountersh(), .rvfi_ext_ic_scr_key_valid(), .rvfi_ext_irq_valid(),
`endif
    .fetch_enable_i(IbexMuBiOn), .alert_minor_o(), .alert_major_internal_o(), .alert_major_bus_o(),
    .core_busy_o(busy)
  );

  ibex_register_file_ff u_register_file (
    .clk_i, .rst_ni, .test_en_i(1'b0), .dummy_instr_id_i(1'b0), .dummy_instr_wb_i(1'b0),
    .raddr_a_i(raddr_a), .rdata_a_o(rdata_a), .raddr_b_i(raddr_b), .rdata_b_o(rdata_b),
    .waddr_a_i(waddr), .wdata_a_i(wdata), .we_a_i(we), .err_o()
  );

  assign sleeping_o = busy == IbexMuBiOff;

endmodule
