// Proof: the look-up of Sv32 without a TLB reads the words that the architecture names, answers as the architecture says, and
// takes 1 cycle when the first level decides, otherwise 2.
//
// The words that it reads are arbitrary; ram_reads_back has the memory. The rules are written here a second time, from the
// text of the privileged architecture and the list of refusals in the module's header.
module sv32_walks
  import cofferdam_pkg::*;
#(
  parameter int unsigned TableW     = 19,
  parameter bit          Invariants = 1'b1   // there are none besides the claims
) (
  input logic        clk_i,
  input mmu_config_t mmu_config,
  input logic        flush,
  input logic        start,
  input page_t       page,
  input access_e     access,
  input sv32_entry_t word       // the answer to the read of the cycle before
);

  localparam int unsigned PpnW = TableW - 10;
  logic unused;
  assign unused = Invariants;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  logic done, hit, read_en;
  frame_t frame;
  logic [TableW-1:0] read_idx;

  mmu_sv32 #(.TableW(TableW), .TlbEntries(0)) dut (
    .clk_i, .rst_ni(started), .config_i(mmu_config), .flush_i(flush), .start_i(start), .page_i(page), .access_i(access),
    .done_o(done), .hit_o(hit), .frame_o(frame), .read_en_o(read_en), .read_idx_o(read_idx), .entry_i(word)
  );

  // The look-up under way: which word it waits for, and what it was asked.
  logic [1:0]  level;
  page_t       asked;
  access_e     asked_access;
  logic        root_here;
  initial level = 2'd0;

  function automatic logic is_table(logic [21:0] ppn);
    return ppn >= 22'h22000 && 32'(ppn) < 32'h22000 + (32'd1 << PpnW);
  endfunction

  function automatic logic leaf_ok(sv32_entry_t leaf, access_e kind);
    if (!leaf.v || (!leaf.r && leaf.w) || (!leaf.r && !leaf.x)) return 1'b0;
    if (!leaf.u || !leaf.a || leaf.ppn >= 22'h80000) return 1'b0;
    if (kind == AccessStore) return leaf.w && leaf.d;
    return kind == AccessFetch ? leaf.x : leaf.r;
  endfunction

  logic pointer, ends;
  assign pointer = word.v && {word.r, word.w, word.x} == '0 && {word.u, word.a, word.d} == '0 && is_table(word.ppn);
  assign ends    = level == 2'd2 || (level == 2'd1 && !(pointer && root_here));

  always_ff @(posedge clk_i) begin
    if (start) begin
      level        <= 2'd1;
      asked        <= page;
      asked_access <= access;
      root_here    <= mmu_config.enable && is_table({3'b0, mmu_config.base});
    end else begin
      level <= level == 2'd1 && !ends ? 2'd2 : 2'd0;
    end
  end

  always_comb begin
    assume (access != access_e'(2'd3));
    if (!started) assume (!start);
    assume (!start || level == 2'd0 || ends);
  end

  always_comb begin
    if (started) begin
      assert (done == ends);
      if (start) begin
        assert (read_en);
        if (mmu_config.enable && is_table({3'b0, mmu_config.base}))
          assert (read_idx == TableW'({mmu_config.base - page_t'(22'h22000), 1'b1, page[18:10]}));
      end
      if (level == 2'd1 && !ends) begin
        assert (read_en && read_idx == TableW'({word.ppn - 22'h22000, asked[9:0]}));
      end
      if (ends) begin
        assert (hit == (root_here && leaf_ok(word, asked_access) && (level == 2'd2 || word.ppn[9:0] == '0)));
        if (hit) assert (frame == (level == 2'd2 ? word.ppn[18:0] : word.ppn[18:0] + 19'(asked[9:0])));
      end
    end
  end

endmodule
