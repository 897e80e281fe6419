// Look-up in Sv32 tables (two levels) with a TLB of 0 or more entries, for one port of the core: the MMU that readers know.
//
// Source: RISC-V Privileged Architecture, chapter "Sv32: Page-Based 32-bit Virtual-Memory Systems". Differences, all
// refusals: tables lie in table memory (a pointer elsewhere is a fault), every leaf needs U, there is no ASID, and A and D
// are never written (a leaf without A, or a store without D, is a fault: scheme Svade). Reserved bits of pointers and of
// leaves have to be 0. Entries of the TLB are pages of 4 KiB, those of a 4 MiB leaf too.
//
// Latency from `start_i` to `done_o`: 1 cycle when the TLB holds the page, or the first level decides (4 MiB leaf, fault);
// otherwise 2. TLB and first level are read at the same time.
// Replacement: in turn, beginning at entry 0 after a flush, so that nothing from before a flush has an effect behind it.
// Contract: as in mmu_rtmmu. A look-up that is under way at `flush_i` ends, but does not enter the TLB.
module mmu_sv32
  import cofferdam_pkg::*;
#(
  parameter int unsigned TableW     = 19,  // log2 of the words of table memory; at least 11
  parameter int unsigned TlbEntries = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  mmu_config_t       config_i,
  input  logic              flush_i,
  input  logic              start_i,
  input  page_t             page_i,
  input  access_e           access_i,
  output logic              done_o,
  output logic              hit_o,
  output frame_t            frame_o,

  output logic              read_en_o,
  output logic [TableW-1:0] read_idx_o,
  input  sv32_entry_t       entry_i
);

  localparam int unsigned TablePageW = TableW - 10;
  localparam logic [21:0] TablePpn   = 22'(TableDBase >> OffsetW);

  typedef enum logic [1:0] {Idle, First, Second} state_e;

  state_e  state_q;
  page_t   page_q;
  access_e access_q;
  logic    enable_q, no_fill_q;

  function automatic logic in_table_memory(logic [21:0] ppn);
    return ppn[21:TablePageW] == TablePpn[21:TablePageW];
  endfunction

  // A leaf of either level that admits the access.
  function automatic logic leaf_admits(sv32_entry_t entry, access_e access);
    rights_t rights;
    rights = '{x: entry.x, w: entry.w && entry.r && entry.d, r: entry.r};
    return entry.v && (entry.r || !entry.w) && entry.u && entry.a && entry.ppn[21:PageW] == '0 &&
           allowed(rights, access);
  endfunction

  // --- TLB ---------------------------------------------------------------------------------------------------------

  logic        tlb_hit_q;   // decided at `start_i`
  sv32_entry_t tlb_entry_q;
  logic        fill;
  sv32_entry_t fill_entry;

  if (TlbEntries == 0) begin : g_no_tlb
    assign tlb_hit_q   = 1'b0;
    assign tlb_entry_q = '0;
    logic unused;
    assign unused = ^{fill, fill_entry};
  end else begin : g_tlb
    localparam int unsigned IndexW = TlbEntries == 1 ? 1 : $clog2(TlbEntries);
    logic [TlbEntries-1:0] valid_q, match;
    page_t                 tag_q   [TlbEntries];
    sv32_entry_t           entry_q [TlbEntries];
    logic [IndexW-1:0]     next_q;
    sv32_entry_t           found;

    always_comb begin
      found = '0;
      for (int i = 0; i < TlbEntries; i++) begin
        match[i] = valid_q[i] && tag_q[i] == page_i;
        if (match[i]) found |= entry_q[i];
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q     <= '0;
        next_q      <= '0;
        tlb_hit_q   <= 1'b0;
        tlb_entry_q <= '0;
        for (int i = 0; i < TlbEntries; i++) begin
          tag_q[i]   <= '0;
          entry_q[i] <= '0;
        end
      end else begin
        if (start_i) begin
          tlb_hit_q   <= |match && !flush_i;
          tlb_entry_q <= found;
        end
        if (flush_i) begin
          valid_q <= '0;
          next_q  <= '0;
        end else if (fill) begin
          valid_q[next_q] <= 1'b1;
          tag_q[next_q]   <= page_q;
          entry_q[next_q] <= fill_entry;
          next_q          <= next_q == IndexW'(TlbEntries - 1) ? '0 : next_q + 1'b1;
        end
      end
    end
  end

  // --- walk --------------------------------------------------------------------------------------------------------

  logic pointer, big_leaf, big_ok, first_ends, admitted;

  assign pointer  = entry_i.v && !entry_i.r && !entry_i.w && !entry_i.x && !entry_i.u && !entry_i.a && !entry_i.d &&
                    in_table_memory(entry_i.ppn);
  assign big_leaf = entry_i.r || entry_i.x;
  assign big_ok   = big_leaf && entry_i.ppn[9:0] == '0;

  always_comb begin
    first_ends = 1'b0;
    admitted   = 1'b0;
    frame_o    = entry_i.ppn[PageW-1:0];
    fill_entry = entry_i;
    unique case (state_q)
      First: begin
        if (tlb_hit_q) begin
          first_ends = 1'b1;
          admitted   = leaf_admits(tlb_entry_q, access_q);
          frame_o    = tlb_entry_q.ppn[PageW-1:0];
        end else if (!pointer || !enable_q) begin
          first_ends = 1'b1;
          admitted   = big_ok && leaf_admits(entry_i, access_q);
          frame_o    = {entry_i.ppn[PageW-1:10], page_q[9:0]};
          fill_entry.ppn[9:0] = page_q[9:0];
        end
      end
      Second:  admitted = big_leaf && leaf_admits(entry_i, access_q);
      default: ;
    endcase
  end

  assign done_o = first_ends || state_q == Second;
  assign hit_o  = admitted && enable_q;
  assign fill   = done_o && hit_o && !(state_q == First && tlb_hit_q) && !no_fill_q;

  logic second_read;
  assign second_read = state_q == First && !first_ends;
  assign read_en_o   = start_i || second_read;
  assign read_idx_o  = second_read ? {entry_i.ppn[TablePageW-1:0], page_q[9:0]}
                                   : {config_i.base[TablePageW-1:0], 1'b1, page_i[PageW-1:10]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      page_q    <= '0;
      access_q  <= AccessLoad;
      enable_q  <= 1'b0;
      no_fill_q <= 1'b0;
    end else begin
      if (start_i) state_q <= First;
      else if (second_read) state_q <= Second;
      else state_q <= Idle;
      if (start_i) begin
        page_q   <= page_i;
        access_q <= access_i;
        enable_q <= config_i.enable && in_table_memory({3'b0, config_i.base});
      end
      no_fill_q <= flush_i || (no_fill_q && !start_i);
    end
  end

  logic unused;
  assign unused = ^{config_i.pages_log2, entry_i.rsw, entry_i.g, tlb_entry_q.rsw, tlb_entry_q.g};

endmodule
