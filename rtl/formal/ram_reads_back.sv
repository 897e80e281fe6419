// Proof that table memories answer what was stored last: any word of pair_ram and single_ram, by both ports, in both tables.
//
// Sizes: 2^TableW entries. The word watched is arbitrary, so that it stands for all.
module ram_reads_back
  import cofferdam_pkg::*;
#(
  parameter int unsigned TableW      = 2,
  parameter bit          DoubleSpeed = 1'b0,
  parameter bit          Invariants  = 1'b1   // 0: the claims alone, for mutants
) (
  input logic                   clk_i,
  input logic [1:0]             first_en, second_en, en,
  input logic [1:0][TableW-1:0] first_idx, second_idx, idx,
  input logic                   bus_req,
  input bus_req_t               bus_req_data,
  // Two words, anywhere, for ever the same.
  input logic [TableW:0]        pair_at,
  input logic [TableW-1:0]      single_at
);

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  logic [1:0][31:0] first, second, word;
  logic             pair_rvalid, single_rvalid;
  bus_rsp_t         pair_rsp, single_rsp;

  pair_ram #(.TableW(TableW), .DoubleSpeed(DoubleSpeed)) u_pair (
    .clk_i, .rst_ni(started), .first_en_i(first_en), .first_idx_i(first_idx), .first_o(first),
    .second_en_i(second_en), .second_idx_i(second_idx), .second_o(second),
    .bus_req_i(bus_req), .bus_req_data_i(bus_req_data), .bus_rvalid_o(pair_rvalid), .bus_rsp_o(pair_rsp)
  );
  single_ram #(.TableW(TableW)) u_single (
    .clk_i, .rst_ni(started), .en_i(en), .idx_i(idx), .word_o(word),
    .bus_req_i(bus_req), .bus_req_data_i(bus_req_data), .bus_rvalid_o(single_rvalid), .bus_rsp_o(single_rsp)
  );

  // Environment: as the assertions in the modules say.
  always_comb begin
    if (!started) assume (!bus_req && first_en == '0 && second_en == '0 && en == '0);
    assume (!(bus_req && (en[1] || second_en[1] || first_en[1])));
    assume (DoubleSpeed || (first_en & second_en) == '0);
  end

  logic              chosen;
  logic [TableW:0]   pair_at_q;
  logic [TableW-1:0] single_at_q;
  initial chosen = 1'b0;
  always_ff @(posedge clk_i) {chosen, pair_at_q, single_at_q} <= {1'b1, pair_at, single_at};
  always_comb if (chosen) assume (pair_at == pair_at_q && single_at == single_at_q);

  // The watched words as stored last; unknown until then.
  logic        pair_known, single_known;
  logic [31:0] pair_word, single_word;
  initial {pair_known, single_known} = '0;
  logic store;
  assign store = bus_req && bus_req_data.we && bus_req_data.be == 4'hf;
  always_ff @(posedge clk_i) begin
    if (store && bus_req_data.addr[TableW+2:2] == pair_at) {pair_known, pair_word} <= {1'b1, bus_req_data.wdata};
    if (store && bus_req_data.addr[TableW+1:2] == single_at) {single_known, single_word} <= {1'b1, bus_req_data.wdata};
  end

  // The read of the cycle before, of a watched word.
  logic [1:0]  first_q, second_q, word_q;
  logic        pair_bus_q, single_bus_q, bad_q, bus_q;
  logic [31:0] pair_was, single_was;
  initial {first_q, second_q, word_q, pair_bus_q, single_bus_q, bad_q, bus_q} = '0;
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < 2; p++) begin
      first_q[p]  <= first_en[p] && pair_known && {1'b0, first_idx[p]} == pair_at;
      second_q[p] <= second_en[p] && pair_known && {1'b1, second_idx[p]} == pair_at;
      word_q[p]   <= en[p] && single_known && idx[p] == single_at;
    end
    bus_q        <= bus_req;
    bad_q        <= bus_req && bus_req_data.we && !store;
    pair_bus_q   <= bus_req && !bus_req_data.we && pair_known && bus_req_data.addr[TableW+2:2] == pair_at;
    single_bus_q <= bus_req && !bus_req_data.we && single_known && bus_req_data.addr[TableW+1:2] == single_at;
    pair_was     <= pair_word;
    single_was   <= single_word;
  end

  always_comb begin
    for (int p = 0; p < 2; p++) begin
      if (first_q[p] && !DoubleSpeed) assert (first[p] == pair_was);
      if (second_q[p]) assert (second[p] == pair_was);
      if (word_q[p]) assert (word[p] == single_was);
    end
    if (pair_bus_q) assert (pair_rsp.rdata == pair_was);
    if (single_bus_q) assert (single_rsp.rdata == single_was);
    if (started) assert (pair_rvalid == bus_q && single_rvalid == bus_q);
    if (bus_q) assert (pair_rsp.err == bad_q && single_rsp.err == bad_q);
    if (Invariants && pair_known) assert (u_pair.mem[pair_at] == pair_word);
    if (Invariants && single_known) assert (u_single.mem[single_at] == single_word);
  end

endmodule
