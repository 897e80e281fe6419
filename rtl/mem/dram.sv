// DRAM with two ports and one latency for all: fetches are port 0, data is port 1.
//
// A wheel of three slots turns for ever: fetches, data, refresh. Each slot is long enough for one access to any row with the
// row closed before and behind it. A port's access takes place in its own slot, whether the other port has one or not, and
// its response is held back until 4 slots after the grant: one turn that it may have to wait, and its own slot. So neither
// the other port, nor refresh, nor the phase of the wheel, nor rows of earlier accesses are visible.
//
// Latency: 4 * SlotCycles from grant to response (12 cycles = 240 ns at 50 MHz); the next request is granted in the cycle
// of the response. SlotCycles = 3 is the row cycle of common SDR SDRAM (60 ns; refresh 66 ns is taken as 60).
//
// For simulation only: memory is sparse, and a word that was never written is Fill.
module dram
  import cofferdam_pkg::*;
#(
  parameter int unsigned BytesLog2  = 26,
  parameter int unsigned SlotCycles = 3,
  parameter logic [31:0] Fill       = 32'hdead_d4a3
) (
  input  logic           clk_i,
  input  logic           rst_ni,

  input  logic     [1:0] req_i,
  output logic     [1:0] gnt_o,
  input  bus_req_t [1:0] req_data_i,
  output logic     [1:0] rvalid_o,
  output bus_rsp_t [1:0] rsp_o
);

  localparam int unsigned Latency = 4 * SlotCycles;
  localparam int unsigned WheelW  = $clog2(3 * SlotCycles);
  localparam int unsigned CountW  = $clog2(Latency + 1);
  localparam int unsigned WordW   = BytesLog2 - 2;

  // Keyed by the index of the word.
  int unsigned mem [int unsigned];

  logic [WheelW-1:0]     wheel_q;
  logic [1:0]            busy_q, waiting_q;
  bus_req_t [1:0]        held_q;
  logic [CountW-1:0]     left_q [2];
  logic [1:0][31:0]      word_q;

  // The next wheel position begins the slot of port p.
  function automatic logic slot_begins(logic [WheelW-1:0] wheel, int p);
    return wheel == WheelW'(p * SlotCycles);
  endfunction

  function automatic int unsigned load(int unsigned index);
    return mem.exists(index) != 0 ? mem[index] : Fill;
  endfunction

  function automatic int unsigned merge(int unsigned old, bus_req_t request);
    int unsigned word;
    word = old;
    for (int b = 0; b < 4; b++) if (request.be[b]) word[8*b+:8] = request.wdata[8*b+:8];
    return word;
  endfunction

  for (genvar p = 0; p < 2; p++) begin : g_port
    logic last;
    assign last        = busy_q[p] && left_q[p] == CountW'(1);
    assign rvalid_o[p] = last;
    assign gnt_o[p]    = req_i[p] && (!busy_q[p] || last);
    assign rsp_o[p]    = '{err: 1'b0, rdata: word_q[p]};

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        busy_q[p]    <= 1'b0;
        waiting_q[p] <= 1'b0;
        left_q[p]    <= '0;
        held_q[p]    <= '0;
      end else begin
        if (gnt_o[p]) begin
          busy_q[p]    <= 1'b1;
          waiting_q[p] <= 1'b1;
          left_q[p]    <= CountW'(Latency);
          held_q[p]    <= req_data_i[p];
        end else if (busy_q[p]) begin
          busy_q[p] <= !last;
          left_q[p] <= left_q[p] - 1'b1;
          if (slot_begins(wheel_q, p)) waiting_q[p] <= 1'b0;
        end
      end
    end
  end

  // Memory as a simulation has it: the access of a slot is made at the slot's beginning. Blocking assignments, because an
  // associative array has no other; no other process touches it in the same slot.
  /* verilator lint_off BLKSEQ */
  always @(posedge clk_i) begin
    for (int p = 0; p < 2; p++) begin
      if (busy_q[p] && waiting_q[p] && slot_begins(wheel_q, p)) begin
        automatic int unsigned index = 32'(held_q[p].addr[WordW+1:2]);
        if (held_q[p].we) mem[index] = merge(load(index), held_q[p]);
        else word_q[p] <= load(index);
      end
    end
  end
  /* verilator lint_on BLKSEQ */

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wheel_q <= '0;
    else wheel_q <= wheel_q == WheelW'(3 * SlotCycles - 1) ? '0 : wheel_q + 1'b1;
  end

  // The access has been made by the time of its response, with its slot behind it.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int p = 0; p < 2; p++) begin
        if (busy_q[p] && left_q[p] <= CountW'(SlotCycles)) assert (!waiting_q[p] || slot_begins(wheel_q, p));
      end
    end
  end

  logic unused;
  assign unused = ^{held_q[0].addr[31:WordW+2], held_q[1].addr[31:WordW+2], held_q[0].addr[1:0], held_q[1].addr[1:0]};

endmodule
