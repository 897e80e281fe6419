// Table memory of one table: the page table d, the entries of `direct`, or Sv32 tables.
//
// Two ports, so that fetches (port 0) and data (port 1) never wait for each other; the kernel's loads and stores use port 1.
// Latency: a word is there one cycle after its `en` and holds until the port's next read.
// Bus: whole words only (a store with other byte enables is refused with `err`); response one cycle after the request.
// Contents are not initialised here.
module single_ram
  import cofferdam_pkg::*;
#(
  parameter int unsigned TableW = 19
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic [1:0]             en_i,
  input  logic [1:0][TableW-1:0] idx_i,
  output logic [1:0][31:0]       word_o,

  input  logic                   bus_req_i,
  input  bus_req_t               bus_req_data_i,
  output logic                   bus_rvalid_o,
  output bus_rsp_t               bus_rsp_o
);

  logic [31:0] mem [2**TableW];

  logic [1:0][31:0] word_q;
  logic             write, whole;

  assign whole = &bus_req_data_i.be;
  assign write = bus_req_i && bus_req_data_i.we && whole;

  always_ff @(posedge clk_i) begin
    if (en_i[0]) word_q[0] <= mem[idx_i[0]];
  end
  always_ff @(posedge clk_i) begin
    if (write) mem[bus_req_data_i.addr[TableW+1:2]] <= bus_req_data_i.wdata;
    else if (bus_req_i) word_q[1] <= mem[bus_req_data_i.addr[TableW+1:2]];
    else if (en_i[1]) word_q[1] <= mem[idx_i[1]];
  end
  assign word_o = word_q;

  logic rvalid_q, err_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      err_q    <= 1'b0;
    end else begin
      rvalid_q <= bus_req_i;
      err_q    <= bus_req_i && bus_req_data_i.we && !whole;
    end
  end
  assign bus_rvalid_o = rvalid_q;
  assign bus_rsp_o    = '{err: err_q, rdata: word_q[1]};

  logic unused;
  assign unused = ^{bus_req_data_i.addr[31:TableW+2], bus_req_data_i.addr[1:0]};

`ifndef SYNTHESIS
  // The kernel does not run while a data look-up is under way.
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (!(bus_req_i && en_i[1]));
  end
`endif

endmodule
