// A timer that interrupts once in a period, with the registers of Arm's CMSDK APB timer (DDI 0479, section 4.1), but for its
// external input and its identification.
//
//   0x0 CTRL       bit 0: counts; bit 3: reaching 0 sets the interrupt
//   0x4 VALUE      counts down by 1 in each tick of TickCycles clock cycles; behind 0 comes RELOAD
//   0x8 RELOAD     a write sets VALUE, too
//   0xc INTSTATUS  read: bit 0: the interrupt; write (INTCLEAR): a 1 in bit 0 clears it
//
// All registers are 0 after reset. When VALUE reaches 0 in the cycle in which the interrupt is cleared, it is set.
// Latency: a response one cycle after the request. Whole words only, anything else is refused with `err`.
module interval_timer
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

  output logic     irq_o
);

  localparam logic [11:0] Ctrl = 12'h0, Value = 12'h4, Reload = 12'h8, Interrupt = 12'hc;

  logic        counts_q, enabled_q, irq_q, rvalid_q, write, tick, zero;
  logic [11:0] offset;
  logic [31:0] value_q, reload_q, word;
  bus_rsp_t    rsp_q, rsp_d;

  assign offset = bus_req_data_i.addr[11:0];
  assign word   = bus_req_data_i.wdata;

  always_comb begin
    rsp_d = '{err: 1'b0, rdata: '0};
    unique case (offset)
      Ctrl:      rsp_d.rdata = {28'b0, enabled_q, 2'b0, counts_q};
      Value:     rsp_d.rdata = value_q;
      Reload:    rsp_d.rdata = reload_q;
      Interrupt: rsp_d.rdata = 32'(irq_q);
      default:   rsp_d.err = 1'b1;
    endcase
    if (bus_req_data_i.we && bus_req_data_i.be != 4'hf) rsp_d.err = 1'b1;
  end
  assign write = bus_req_i && bus_req_data_i.we && !rsp_d.err;

  if (TickCycles == 1) begin : g_each_cycle
    assign tick = counts_q;
  end else begin : g_divided
    logic [$clog2(TickCycles)-1:0] cycle_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) cycle_q <= '0;
      else cycle_q <= cycle_q + 1'b1;
    end
    assign tick = counts_q && cycle_q == '1;
  end
  assign zero = tick && value_q == 32'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counts_q  <= 1'b0;
      enabled_q <= 1'b0;
      value_q   <= '0;
      reload_q  <= '0;
      irq_q     <= 1'b0;
      rvalid_q  <= 1'b0;
      rsp_q     <= '0;
    end else begin
      rvalid_q <= bus_req_i;
      rsp_q    <= rsp_d;
      if (tick) value_q <= value_q == '0 ? reload_q : value_q - 32'd1;
      if (write) begin
        unique case (offset)
          Ctrl:      {enabled_q, counts_q} <= {word[3], word[0]};
          Value:     value_q <= word;
          Reload:    {reload_q, value_q} <= {word, word};
          Interrupt: if (word[0]) irq_q <= 1'b0;
          default:   ;
        endcase
      end
      if (zero && enabled_q) irq_q <= 1'b1;
    end
  end

  assign irq_o        = irq_q;
  assign bus_rvalid_o = rvalid_q;
  assign bus_rsp_o    = rsp_q;

  logic unused;
  assign unused = ^bus_req_data_i.addr[31:12];

endmodule
