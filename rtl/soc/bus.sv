// Sends the requests of one port to its slaves by address, one at a time, and brings the responses back in order.
//
// Window i is Base[i] and the 2^SizeLog2[i] bytes from there on. A request outside all windows is granted at once and
// answered with `err` one cycle later.
// Latency: none is added. The next request may be granted in the cycle of the response before.
module bus
  import cofferdam_pkg::*;
#(
  parameter int unsigned             Slaves   = 2,
  parameter logic [Slaves-1:0][31:0] Base     = '0,
  parameter logic [Slaves-1:0][31:0] SizeLog2 = '0
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    req_i,
  output logic                    gnt_o,
  input  bus_req_t                req_data_i,
  output logic                    rvalid_o,
  output bus_rsp_t                rsp_o,

  // The payload of requests goes to all slaves as it is.
  output logic     [Slaves-1:0]   slave_req_o,
  input  logic     [Slaves-1:0]   slave_gnt_i,
  input  logic     [Slaves-1:0]   slave_rvalid_i,
  input  bus_rsp_t [Slaves-1:0]   slave_rsp_i
);

  logic [Slaves-1:0] match, chosen_q;
  logic              free, nobody, nobody_q;

  for (genvar i = 0; i < Slaves; i++) begin : g_match
    assign match[i] = (req_data_i.addr >> SizeLog2[i]) == (Base[i] >> SizeLog2[i]);
  end

  assign nobody      = match == '0;
  assign free        = (chosen_q == '0 && !nobody_q) || rvalid_o;
  assign slave_req_o = (req_i && free) ? match : '0;
  assign gnt_o       = req_i && free && (nobody || (slave_gnt_i & match) != '0);
  assign rvalid_o    = nobody_q || (slave_rvalid_i & chosen_q) != '0;

  always_comb begin
    rsp_o = '{err: nobody_q, rdata: '0};
    for (int i = 0; i < Slaves; i++) if (chosen_q[i]) rsp_o |= slave_rsp_i[i];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      chosen_q <= '0;
      nobody_q <= 1'b0;
    end else if (gnt_o) begin
      chosen_q <= match;
      nobody_q <= nobody;
    end else if (rvalid_o) begin
      chosen_q <= '0;
      nobody_q <= 1'b0;
    end
  end

endmodule
