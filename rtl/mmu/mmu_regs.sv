// Registers of the MMU, for the kernel. Offsets in bytes; whole words only, anything else is refused with `err`.
//
//   0x00 CONTROL     bit 0: translate. 0 after reset: every access to the upper half is a fault.
//   0x04 BASE        first entry of the domain's tables in table memory; bits below PAGES_LOG2 are ignored. Sv32: the
//                    physical page of the root table.
//   0x08 PAGES_LOG2  k: the domain has the pages 0 to 2^k - 1, k <= 19; more is taken as 19. Unused by Sv32.
//   0x0c FLUSH       a write empties the TLBs (Sv32). So does a write of any other register: a switch cannot forget it.
//   0x10 KIND        read only: bits 2:0 the MMU (mmu_e), bit 8 double speed, bits 23:16 log2 of the entries of a table,
//                    bits 31:24 entries of each TLB.
//
// Latency: a response one cycle after the request; the new configuration holds from that cycle on.
module mmu_regs
  import cofferdam_pkg::*;
#(
  parameter mmu_e        Kind        = MmuRtmmu,
  parameter bit          DoubleSpeed = 1'b0,
  parameter int unsigned TableW      = 19,
  parameter int unsigned TlbEntries  = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        bus_req_i,
  input  bus_req_t    bus_req_data_i,
  output logic        bus_rvalid_o,
  output bus_rsp_t    bus_rsp_o,

  output mmu_config_t config_o,
  output logic        flush_o
);

  localparam logic [31:0] KindWord = {8'(TlbEntries), 8'(TableW), 7'b0, DoubleSpeed, 5'b0, Kind};

  mmu_config_t config_q;
  logic        flush_q, rvalid_q;
  bus_rsp_t    rsp_q, rsp_d;
  logic        write;
  logic [15:0] offset;

  assign offset = bus_req_data_i.addr[15:0];
  assign write  = bus_req_i && bus_req_data_i.we && !rsp_d.err;

  always_comb begin
    rsp_d = '{err: 1'b0, rdata: '0};
    unique case (offset)
      16'h00:  rsp_d.rdata = 32'(config_q.enable);
      16'h04:  rsp_d.rdata = 32'(config_q.base);
      16'h08:  rsp_d.rdata = 32'(config_q.pages_log2);
      16'h0c:  ;
      16'h10:  rsp_d = '{err: bus_req_data_i.we, rdata: KindWord};
      default: rsp_d.err = 1'b1;
    endcase
    if (bus_req_data_i.we && bus_req_data_i.be != 4'hf) rsp_d.err = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      config_q <= '0;
      flush_q  <= 1'b0;
      rvalid_q <= 1'b0;
      rsp_q    <= '0;
    end else begin
      rvalid_q <= bus_req_i;
      rsp_q    <= rsp_d;
      flush_q  <= write;
      if (write) begin
        unique case (offset)
          16'h00:  config_q.enable <= bus_req_data_i.wdata[0];
          16'h04:  config_q.base <= page_t'(bus_req_data_i.wdata);
          16'h08:  config_q.pages_log2 <= bus_req_data_i.wdata > 32'(PageW) ? 5'(PageW) : 5'(bus_req_data_i.wdata);
          default: ;
        endcase
      end
    end
  end

  assign config_o     = config_q;
  assign flush_o      = flush_q;
  assign bus_rvalid_o = rvalid_q;
  assign bus_rsp_o    = rsp_q;

  logic unused;
  assign unused = ^bus_req_data_i.addr[31:16];

endmodule
