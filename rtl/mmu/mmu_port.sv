// Between one port of the core and the physical bus: sends translated requests through a look-up, others straight on.
//
// Core side and bus side speak the core's protocol: a request holds until it is granted; one response for each grant, in
// order. The bus side has one request outstanding at a time and may grant the next in the cycle of a response.
//
// Latency: an untranslated request is passed on in its own cycle, unless a translated one is under way. A translated one is
// granted at once when none is under way, reaches the bus in the cycle of the look-up's `done_i`, and waits there for its
// grant. Back-to-back translated requests overlap: the next look-up starts in the cycle in which this request reaches the
// bus. Added to an access that the bus grants at once: the latency of the look-up.
//
// Faults: a look-up without a hit makes no request on the bus. Its response carries `err` and comes after all responses
// before it, at the earliest one cycle after `done_i`, so that the core sees a precise fault.
module mmu_port
  import cofferdam_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_ni,

  input  logic     core_req_i,
  output logic     core_gnt_o,
  input  bus_req_t core_req_data_i,
  output logic     core_rvalid_o,
  output bus_rsp_t core_rsp_o,

  output logic     bus_req_o,
  input  logic     bus_gnt_i,
  output bus_req_t bus_req_data_o,
  input  logic     bus_rvalid_i,
  input  bus_rsp_t bus_rsp_i,

  output logic     start_o,
  output page_t    page_o,
  input  logic     done_i,
  input  logic     hit_i,
  input  frame_t   frame_i
);

  typedef enum logic [1:0] {
    Idle,    // no translated request under way
    Lookup,  // waiting for `done_i`
    Issue,   // translated; waiting for the grant of the bus
    Fault    // not mapped; waiting for the responses of earlier requests
  } state_e;

  state_e   state_q, state_d;
  bus_req_t held_q;         // the translated request that is under way; its address is the virtual one
  frame_t   frame_q;
  logic     outstanding_q;  // the bus owes a response

  logic translated, found, missed, issue, fault_now, leaves, start;

  assign translated = core_req_data_i.addr[31];
  assign found      = state_q == Lookup && done_i && hit_i;
  assign missed     = state_q == Lookup && done_i && !hit_i;
  assign issue      = found || state_q == Issue;
  assign fault_now  = state_q == Fault && !outstanding_q;
  assign leaves     = (issue && bus_gnt_i) || fault_now;
  assign start      = core_req_i && translated && (state_q == Idle || leaves);

  always_comb begin
    state_d = state_q;
    if (leaves) state_d = Idle;
    else if (found) state_d = Issue;
    else if (missed) state_d = Fault;
    if (start) state_d = Lookup;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      held_q        <= '0;
      frame_q       <= '0;
      outstanding_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (start) held_q <= core_req_data_i;
      if (found) frame_q <= frame_i;
      outstanding_q <= (bus_req_o && bus_gnt_i) || (outstanding_q && !bus_rvalid_i);
    end
  end

  assign start_o = start;
  assign page_o  = core_req_data_i.addr[30:OffsetW];

  always_comb begin
    bus_req_data_o = core_req_data_i;
    if (state_q != Idle) begin
      bus_req_data_o      = held_q;
      bus_req_data_o.addr = {1'b0, found ? frame_i : frame_q, held_q.addr[OffsetW-1:0]};
    end
  end
  assign bus_req_o  = issue || (state_q == Idle && core_req_i && !translated);
  assign core_gnt_o = start || (state_q == Idle && core_req_i && !translated && bus_gnt_i);

  // A fault waits until nothing is outstanding, so that the two sources of a response exclude each other.
  assign core_rvalid_o    = bus_rvalid_i || fault_now;
  assign core_rsp_o.err   = fault_now || bus_rsp_i.err;
  assign core_rsp_o.rdata = bus_rsp_i.rdata;

  logic unused;
  assign unused = ^held_q.addr[31:OffsetW];

endmodule
