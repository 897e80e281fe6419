// Table memory of two tables, `first` and `second`, that a look-up reads one after the other: {c, sp} or {h, s}.
//
// Source: RTMMU paper, sections IV.A.2b and V.A: tables that depend on each other share one memory, which may run at double
// speed. Two ports, so that fetches (port 0) and data (port 1) never wait for each other; the kernel's loads and stores use
// port 1, at times when no data look-up does.
//
// Latency: single speed: a word is there one cycle after its `en`; one read per port and cycle. Double speed: the clock's
// falling edge makes the first read, its rising edge the second one, so that a first word is there within its own cycle; a
// physical memory has a clock of twice the frequency. Words hold until the port's next read.
//
// Bus: index {table, entry}; whole words only (a store with other byte enables is refused with `err`), response one cycle
// after the request. Contents are not initialised here.
module pair_ram
  import cofferdam_pkg::*;
#(
  parameter int unsigned TableW      = 19,
  parameter bit          DoubleSpeed = 1'b0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic [1:0]             first_en_i,
  input  logic [1:0][TableW-1:0] first_idx_i,
  output logic [1:0][31:0]       first_o,
  input  logic [1:0]             second_en_i,
  input  logic [1:0][TableW-1:0] second_idx_i,
  output logic [1:0][31:0]       second_o,

  input  logic                   bus_req_i,
  input  bus_req_t               bus_req_data_i,
  output logic                   bus_rvalid_o,
  output bus_rsp_t               bus_rsp_o
);

  logic [31:0] mem [2**(TableW+1)];

  logic [1:0]           en;
  logic [1:0][TableW:0] idx;
  logic [1:0][31:0]     word_q;
  logic                 write, whole;

  assign whole = &bus_req_data_i.be;
  assign write = bus_req_i && bus_req_data_i.we && whole;

  if (DoubleSpeed) begin : g_double
    logic [1:0][31:0] first_q;
    always_ff @(negedge clk_i) begin
      for (int p = 0; p < 2; p++) begin
        if (first_en_i[p]) first_q[p] <= mem[{1'b0, first_idx_i[p]}];
      end
    end
    assign first_o = first_q;
    assign en      = second_en_i;
    assign idx[0]  = {1'b1, second_idx_i[0]};
    assign idx[1]  = {1'b1, second_idx_i[1]};
  end else begin : g_single
    assign first_o = word_q;
    assign en      = first_en_i | second_en_i;
    for (genvar p = 0; p < 2; p++) begin : g_port
      assign idx[p] = second_en_i[p] ? {1'b1, second_idx_i[p]} : {1'b0, first_idx_i[p]};
    end
  end
  assign second_o = word_q;

  always_ff @(posedge clk_i) begin
    if (en[0]) word_q[0] <= mem[idx[0]];
  end
  always_ff @(posedge clk_i) begin
    if (write) mem[bus_req_data_i.addr[TableW+2:2]] <= bus_req_data_i.wdata;
    else if (bus_req_i) word_q[1] <= mem[bus_req_data_i.addr[TableW+2:2]];
    else if (en[1]) word_q[1] <= mem[idx[1]];
  end

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
  assign unused = ^{bus_req_data_i.addr[31:TableW+3], bus_req_data_i.addr[1:0]};

`ifndef SYNTHESIS
  // A port has one reader at a time: the kernel does not run while a data look-up is under way, and at single speed a
  // look-up's second read excludes the first read of the next one.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(bus_req_i && en[1]));
      if (!DoubleSpeed) assert ((first_en_i & second_en_i) == '0);
    end
  end
`endif

endmodule
