// Machine timer and software interrupt, at the offsets of the usual core-local interruptor.
//
//   0x0000 msip      bit 0: software interrupt
//   0x4000 mtimecmp  low word, 0x4004 high word
//   0xbff8 mtime     low word, 0xbffc high word; counts ticks of TickCycles clock cycles from reset
//
// Source: RISC-V Privileged Architecture, "Machine Timer Registers". The timer interrupt is pending while
// mtime >= mtimecmp; mtimecmp is all ones after reset.
// Latency: a response one cycle after the request. A read of mtime yields the count in the cycle of the request. Whole words
// only, anything else is refused with `err`.
module timer
  import cofferdam_pkg::*;
#(
  parameter int unsigned TickCycles = 1  // a power of two
) (
  input  logic     clk_i,
  input  logic     rst_ni,

  input  logic     bus_req_i,
  input  bus_req_t bus_req_data_i,
  output logic     bus_rvalid_o,
  output bus_rsp_t bus_rsp_o,

  output logic     irq_timer_o,
  output logic     irq_software_o
);

  logic [63:0] mtime_q, mtimecmp_q;
  logic        msip_q, rvalid_q, irq_q, write, tick;
  bus_rsp_t    rsp_q, rsp_d;

  always_comb begin
    rsp_d = '{err: 1'b0, rdata: '0};
    unique case (bus_req_data_i.addr[15:0])
      16'h0000: rsp_d.rdata = 32'(msip_q);
      16'h4000: rsp_d.rdata = mtimecmp_q[31:0];
      16'h4004: rsp_d.rdata = mtimecmp_q[63:32];
      16'hbff8: rsp_d.rdata = mtime_q[31:0];
      16'hbffc: rsp_d.rdata = mtime_q[63:32];
      default:  rsp_d.err = 1'b1;
    endcase
    if (bus_req_data_i.we && bus_req_data_i.be != 4'hf) rsp_d.err = 1'b1;
  end
  assign write = bus_req_i && bus_req_data_i.we && !rsp_d.err;

  if (TickCycles == 1) begin : g_each_cycle
    assign tick = 1'b1;
  end else begin : g_divided
    logic [$clog2(TickCycles)-1:0] cycle_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) cycle_q <= '0;
      else cycle_q <= cycle_q + 1'b1;
    end
    assign tick = cycle_q == '1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mtime_q    <= '0;
      mtimecmp_q <= '1;
      msip_q     <= 1'b0;
      irq_q      <= 1'b0;
      rvalid_q   <= 1'b0;
      rsp_q      <= '0;
    end else begin
      if (tick) mtime_q <= mtime_q + 64'd1;
      irq_q    <= mtime_q >= mtimecmp_q;
      rvalid_q <= bus_req_i;
      rsp_q    <= rsp_d;
      if (write) begin
        unique case (bus_req_data_i.addr[15:0])
          16'h0000: msip_q <= bus_req_data_i.wdata[0];
          16'h4000: mtimecmp_q[31:0] <= bus_req_data_i.wdata;
          16'h4004: mtimecmp_q[63:32] <= bus_req_data_i.wdata;
          16'hbff8: mtime_q[31:0] <= bus_req_data_i.wdata;
          16'hbffc: mtime_q[63:32] <= bus_req_data_i.wdata;
          default:  ;
        endcase
      end
    end
  end

  assign irq_timer_o    = irq_q;
  assign irq_software_o = msip_q;
  assign bus_rvalid_o   = rvalid_q;
  assign bus_rsp_o      = rsp_q;

  logic unused;
  assign unused = ^bus_req_data_i.addr[31:16];

endmodule
