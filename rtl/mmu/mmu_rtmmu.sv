// Look-up of RTMMU for one port of the core: fetches or data.
//
// Source: RTMMU paper, sections IV.A.1-2 (pages validity array, virtual regions cache) and IV.B (three ports).
//   Port A of table memory reads c[page], then sp[c]. Port B reads h[page], then s[h]. Port D reads d[page].
//   The page is mapped to frame d[page] exactly when
//       c <= page,  c <= h,  h < sp[c],  s[h] = page
//   and then the header's rights decide. `c`, `h`, `s` and `d` may hold anything; `sp` must be a table of empty stacks when
//   the domain starts (zeroes are), and software keeps the invariants of docs/soft-core.md.
//
// Latency: `done_o` comes exactly 2 cycles after `start_i` (DoubleSpeed = 0) or exactly 1 (DoubleSpeed = 1), mapped or not.
// At double speed table memory answers the first read within the cycle (pair_ram), so that both reads fit.
//
// Contract: `start_i` only when no look-up is under way, or in the cycle of its `done_o`. The configuration is taken at
// `start_i`; a later change does not mix the tables of two domains. Every index is confined to the domain's own tables
// before it is used, even those that are read from tables.
module mmu_rtmmu
  import cofferdam_pkg::*;
#(
  parameter int unsigned TableW      = 19,   // log2 of the entries of each table
  parameter bit          DoubleSpeed = 1'b0
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

  // Table memory. First reads share their index; words of the second reads hold from one cycle after `second_en_o`.
  output logic              first_en_o,
  output logic [TableW-1:0] first_idx_o,
  input  page_t             c_i,
  input  page_t             h_i,
  input  frame_t            d_i,
  output logic              second_en_o,
  output logic [TableW-1:0] sp_idx_o,
  output logic [TableW-1:0] s_idx_o,
  input  header_t           sp_i,
  input  page_t             s_i
);

  typedef struct packed {
    logic              in_range; // the MMU is on and the page is one of the 2^k
    page_t             page;
    access_e           access;
    logic [TableW-1:0] base;
    logic [TableW-1:0] mask;
  } lookup_t;

  lookup_t first, second;
  logic    second_en, done_q, in_range_q;
  page_t   page_q, c_q, h_q;
  access_e access_q;
  logic [TableW-1:0] mask;

  assign mask = TableW'(page_mask(config_i.pages_log2));
  assign first = '{
    in_range: config_i.enable && (page_i & ~page_mask(config_i.pages_log2)) == '0,
    page:     page_i,
    access:   access_i,
    base:     TableW'(config_i.base) & ~mask,
    mask:     mask
  };

  assign first_en_o  = start_i;
  assign first_idx_o = first.base | (TableW'(page_i) & mask);

  // The second read follows one cycle after the first, or in the same cycle.
  if (DoubleSpeed) begin : g_double
    assign second    = first;
    assign second_en = start_i;
  end else begin : g_single
    lookup_t first_q;
    logic    first_done_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        first_done_q <= 1'b0;
        first_q      <= '0;
      end else begin
        first_done_q <= start_i;
        if (start_i) first_q <= first;
      end
    end

    assign second    = first_q;
    assign second_en = first_done_q;
  end

  assign second_en_o = second_en;
  assign sp_idx_o    = second.base | (TableW'(c_i) & second.mask);
  assign s_idx_o     = second.base | (TableW'(h_i) & second.mask);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_q     <= 1'b0;
      in_range_q <= 1'b0;
      page_q     <= '0;
      access_q   <= AccessLoad;
      c_q        <= '0;
      h_q        <= '0;
    end else begin
      done_q <= second_en;
      if (second_en) begin
        in_range_q <= second.in_range;
        page_q     <= second.page;
        access_q   <= second.access;
        c_q        <= c_i;
        h_q        <= h_i;
      end
    end
  end

  logic c_at_or_before_page, c_at_or_before_h, h_below_sp, s_is_page;
  assign c_at_or_before_page = c_q <= page_q;
  assign c_at_or_before_h    = c_q <= h_q;
  assign h_below_sp          = limit_t'(h_q) < sp_i.sp;
  assign s_is_page           = s_i == page_q;

  assign done_o  = done_q;
  assign hit_o   = in_range_q && c_at_or_before_page && c_at_or_before_h && h_below_sp && s_is_page &&
                   allowed(sp_i.rights, access_q);
  assign frame_o = d_i;

  logic unused;
  assign unused = ^{sp_i.allocated, sp_i.reserved, config_i.base};

endmodule
