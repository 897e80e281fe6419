// Look-up in a one-level page table, for one port of the core: the opponent of RTMMU.
//
// Source: RTMMU paper, sections II.B ("direct page tables") and V.A ("conventional MMU"): no TLB.
//   Port D of table memory reads the entry of the page; it holds validity, rights and frame (direct_entry_t).
//   All entries of a domain have to be written before it starts.
//
// Latency: `done_o` comes exactly 1 cycle after `start_i`, mapped or not.
// Contract: as in mmu_rtmmu.
module mmu_direct
  import cofferdam_pkg::*;
#(
  parameter int unsigned TableW = 19   // log2 of the entries of the table memory
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  mmu_config_t       config_i,
  input  logic              start_i,
  input  page_t             page_i,
  input  access_e           access_i,
  output logic              done_o,
  output logic              hit_o,
  output frame_t            frame_o,

  output logic              first_en_o,
  output logic [TableW-1:0] first_idx_o,
  input  direct_entry_t     d_i
);

  logic              done_q, inside_q;
  access_e           access_q;
  logic [TableW-1:0] mask;

  assign mask        = TableW'(page_mask(config_i.pages_log2));
  assign first_en_o  = start_i;
  assign first_idx_o = (TableW'(config_i.base) & ~mask) | (TableW'(page_i) & mask);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_q   <= 1'b0;
      inside_q <= 1'b0;
      access_q <= AccessLoad;
    end else begin
      done_q <= start_i;
      if (start_i) begin
        inside_q <= config_i.enable && (page_i & ~page_mask(config_i.pages_log2)) == '0;
        access_q <= access_i;
      end
    end
  end

  assign done_o  = done_q;
  assign hit_o   = inside_q && d_i.valid && allowed(d_i.rights, access_q);
  assign frame_o = d_i.frame;

  logic unused;
  assign unused = ^{d_i.reserved, config_i.base};

endmodule
