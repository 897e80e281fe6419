// Console, marks and the end of a run, as ports that a test bench reads.
//
//   0x0000 PUT   write: one character (bits 7:0)
//   0x0004 CTRL  write: bit 0: the interrupt is up, because there is always room
//   0x1004 MARK  write: one word for the trace
//   0x1008 STOP  write: ends the run; the word is its exit code
//
// A domain may have the first page. The second one is the kernel's.
// Latency: a response one cycle after the request. Writes of whole words only, anything else is refused with `err`. The
// outputs are valid in the cycle after the write.
module console
  import cofferdam_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        bus_req_i,
  input  bus_req_t    bus_req_data_i,
  output logic        bus_rvalid_o,
  output bus_rsp_t    bus_rsp_o,

  output logic        irq_o,
  output logic        put_o,
  output logic        mark_o,
  output logic        stop_o,
  output logic [31:0] word_o
);

  logic [3:0]  which_d, which_q;
  logic        rvalid_q, err_q, irq_q;
  logic [31:0] word_q;

  always_comb begin
    unique case (bus_req_data_i.addr[15:0])
      16'h0000: which_d = 4'b0001;
      16'h0004: which_d = 4'b1000;
      16'h1004: which_d = 4'b0010;
      16'h1008: which_d = 4'b0100;
      default:  which_d = 4'b0000;
    endcase
    if (!bus_req_i || !bus_req_data_i.we || bus_req_data_i.be != 4'hf) which_d = 4'b0000;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      which_q  <= '0;
      rvalid_q <= 1'b0;
      err_q    <= 1'b0;
      irq_q    <= 1'b0;
      word_q   <= '0;
    end else begin
      which_q  <= which_d;
      rvalid_q <= bus_req_i;
      err_q    <= which_d == '0;
      word_q   <= bus_req_data_i.wdata;
      if (which_d[3]) irq_q <= bus_req_data_i.wdata[0];
    end
  end

  assign {stop_o, mark_o, put_o} = which_q[2:0];
  assign irq_o        = irq_q;
  assign word_o       = word_q;
  assign bus_rvalid_o = rvalid_q;
  assign bus_rsp_o    = '{err: err_q, rdata: '0};

  logic unused;
  assign unused = ^{bus_req_data_i.addr[31:16], which_q[3]};

endmodule
