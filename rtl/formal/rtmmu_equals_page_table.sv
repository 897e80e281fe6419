// Proof (a): RTMMU, whatever its tables held, answers as a plain page table does after any operations.
//
// The look-up is mmu_rtmmu as it is simulated, with table memory as pair_ram and single_ram answer. The kernel's operations are
// those of crates/rtmmu, one per step, at times when no look-up is under way; the virtual regions tree is the set `head`. The
// plain page table (valid, rights, frame of each page) is changed page by page.
//
// By induction over the invariants below, which are those that crates/rtmmu/src/space/mod.rs states; `c`, `h`, `s` and `d` begin
// with anything. Sizes: 2^K pages, words as wide as they are. Gaps: an operation's stores are one step here; the tree is tested,
// not proven.
module rtmmu_equals_page_table
  import cofferdam_pkg::*;
#(
  parameter int unsigned K           = 2,
  parameter bit          DoubleSpeed = 1'b0,
  parameter bit          Invariants  = 1'b1   // 0: the claim alone, for mutants
) (
  input logic       clk_i,
  input logic [2:0] op,
  input logic [K-1:0] a,       // page of an operation
  input logic [K:0] n,         // pages of a region
  input frame_t     f,
  input rights_t    r,
  input page_t      base,
  input logic       start,
  input page_t      page,
  input access_e    access
);

  localparam int unsigned N = 1 << K;

  // --- tables, and the plain page table ----------------------------------------------------------------------------

  page_t   c [N], h [N], s [N];
  frame_t  d [N];
  header_t sp [N];
  logic [N-1:0] head;

  logic [N-1:0] allocated, valid;
  rights_t rights [N];
  frame_t  frame [N];

  initial begin
    head      = 1;
    allocated = '0;
    valid     = '0;
    for (int i = 0; i < N; i++) sp[i] = '0;
  end

  // own: header of a page; nx: the header behind it; lf: the header before it.
  logic [K-1:0] own [N], lf [N];
  logic [K:0]   nx [N];
  always_comb begin
    for (int i = 0; i < N; i++) begin
      own[i] = '0;
      lf[i]  = '0;
      nx[i]  = (K+1)'(N);
      for (int j = 0; j < N; j++) begin
        if (j <= i && head[j]) own[i] = K'(j);
        if (j < i && head[j]) lf[i] = K'(j);
        if (N - 1 - j > i && head[N-1-j]) nx[i] = (K+1)'(N - 1 - j);
      end
    end
  end

  // --- the look-up -------------------------------------------------------------------------------------------------

  mmu_config_t mmu_config;
  logic        done, hit, first_en, second_en;
  frame_t      result;
  logic [K-1:0] first_idx, sp_idx, s_idx;
  page_t       c_word, h_word, a_q, b_q;
  frame_t      d_q;
  header_t     sp_q;
  page_t       s_q;

  assign mmu_config = '{enable: 1'b1, pages_log2: 5'(K), base: base};

  mmu_rtmmu #(.TableW(K), .DoubleSpeed(DoubleSpeed)) dut (
    .clk_i, .rst_ni(1'b1), .config_i(mmu_config), .start_i(start), .page_i(page), .access_i(access),
    .done_o(done), .hit_o(hit), .frame_o(result),
    .first_en_o(first_en), .first_idx_o(first_idx), .c_i(c_word), .h_i(h_word), .d_i(d_q),
    .second_en_o(second_en), .sp_idx_o(sp_idx), .s_idx_o(s_idx), .sp_i(sp_q), .s_i(s_q)
  );

  assign c_word = DoubleSpeed ? c[first_idx] : a_q;
  assign h_word = DoubleSpeed ? h[first_idx] : b_q;

  always_ff @(posedge clk_i) begin
    if (first_en) begin
      a_q <= c[first_idx];
      b_q <= h[first_idx];
      d_q <= d[first_idx];
    end
    if (second_en) begin
      sp_q <= sp[sp_idx];
      s_q  <= s[s_idx];
    end
  end

  // The look-up under way: its age in cycles, its page, its access.
  logic    busy;
  logic    age;
  page_t   asked;
  access_e asked_access;
  initial busy = 1'b0;
  initial begin
    dut.done_q = 1'b0;
  end

  localparam logic Last = DoubleSpeed ? 1'b0 : 1'b1;
  always_ff @(posedge clk_i) begin
    if (start) begin
      busy         <= 1'b1;
      age          <= 1'b0;
      asked        <= page;
      asked_access <= access;
    end else if (busy) begin
      busy <= age != Last;
      age  <= 1'b1;
    end
  end
  always_comb assume (!(start && busy && age != Last));
  always_comb assume (access != access_e'(2'd3));

  // --- operations --------------------------------------------------------------------------------------------------

  logic idle, mapped_a;
  assign idle     = !busy && !start;
  assign mapped_a = c[a] <= page_t'(a) && c[a] <= h[a] && limit_t'(h[a]) < sp[c[a][K-1:0]].sp && s[h[a][K-1:0]] == page_t'(a);

  function automatic header_t empty(logic is_allocated, rights_t with_rights, logic [K-1:0] first);
    return '{allocated: is_allocated, rights: with_rights, reserved: '0, sp: limit_t'(first)};
  endfunction

  always_ff @(posedge clk_i) begin
    if (idle) begin
      unique case (op)
        3'd1:  // map_vrh
          if (n != 0 && !sp[own[a]].allocated && (K+2)'(a) + (K+2)'(n) <= (K+2)'(nx[a])) begin
            head[a] <= 1'b1;
            if ((K+2)'(a) + (K+2)'(n) < (K+2)'(N)) head[K'(a + n)] <= 1'b1;
            sp[a] <= empty(1'b1, r, a);
            for (int i = 0; i < N; i++) if (i >= 32'(a) && i < 32'(a) + 32'(n)) begin
              allocated[i] <= 1'b1;
              rights[i]    <= r;
            end
          end
        3'd2:  // split
          if (sp[own[a]].allocated && !head[a] && sp[own[a]].sp <= limit_t'(own[a])) begin
            head[a] <= 1'b1;
            sp[a]   <= empty(1'b1, sp[own[a]].rights, a);
          end
        3'd3:  // unmap_region
          if (sp[a].allocated) begin
            sp[a] <= empty(1'b0, '0, a);
            if (nx[a] < (K+1)'(N) && !sp[nx[a][K-1:0]].allocated) head[nx[a][K-1:0]] <= 1'b0;
            if (a != 0 && !sp[lf[a]].allocated) head[a] <= 1'b0;
            for (int i = 0; i < N; i++) if (i >= 32'(a) && i < 32'(nx[a])) begin
              allocated[i] <= 1'b0;
              valid[i]     <= 1'b0;
            end
          end
        3'd4:  // map_page
          if (sp[own[a]].allocated && !mapped_a) begin
            d[a] <= f;
            c[a] <= page_t'(own[a]);
            h[a] <= page_t'(sp[own[a]].sp);
            s[sp[own[a]].sp[K-1:0]] <= page_t'(a);
            sp[own[a]].sp <= sp[own[a]].sp + limit_t'(1);
            valid[a] <= 1'b1;
            frame[a] <= f;
          end
        3'd5:  // protect
          if (sp[a].allocated) begin
            sp[a].rights <= r;
            for (int i = 0; i < N; i++) if (i >= 32'(a) && i < 32'(nx[a])) rights[i] <= r;
          end
        default: ;
      endcase
    end
  end

  // --- the claim ---------------------------------------------------------------------------------------------------

  logic         expect_hit;
  logic [K-1:0] asked_index;
  assign asked_index = asked[K-1:0];
  assign expect_hit  = asked < page_t'(N) && valid[asked_index] && allowed(rights[asked_index], asked_access);

  always_comb begin
    assert (done == (busy && age == Last));
    if (done) begin
      assert (hit == expect_hit);
      if (hit) assert (result == frame[asked_index]);
    end
    // There is always room on the stack of a page's region.
    if (op == 3'd4 && sp[own[a]].allocated && !mapped_a) assert (sp[own[a]].sp < limit_t'(nx[a]));
  end

  // --- invariants --------------------------------------------------------------------------------------------------

  if (!DoubleSpeed) begin : g_reset
    initial dut.g_single.first_done_q = 1'b0;
  end

  if (Invariants) begin : g_invariants
    always_comb begin
      assert (head[0]);
      for (int i = 0; i < N; i++) begin
        if (sp[i].allocated) begin
          assert (head[i]);
          assert (sp[i].sp >= limit_t'(i) && sp[i].sp <= limit_t'(nx[i]));
        end else begin
          assert (sp[i].sp <= limit_t'(i));
        end
        assert (allocated[i] == sp[own[i]].allocated);
        if (allocated[i]) assert (rights[i] == sp[own[i]].rights);
        if (valid[i]) begin
          assert (allocated[i]);
          assert (c[i] == page_t'(own[i]) && c[i] <= h[i] && limit_t'(h[i]) < sp[own[i]].sp);
          assert (s[h[i][K-1:0]] == page_t'(i));
          assert (frame[i] == d[i]);
        end
        if (limit_t'(i) < sp[own[i]].sp) begin
          assert (s[i] < page_t'(N));
          assert (own[s[i][K-1:0]] == own[i] && h[s[i][K-1:0]] == page_t'(i) && valid[s[i][K-1:0]]);
        end
      end
    end

    // The look-up under way holds what the tables say of its page.
    logic in_range;
    assign in_range = asked < page_t'(N);
    if (!DoubleSpeed) begin : g_single
      always_comb begin
        assert (dut.g_single.first_done_q == (busy && age == 1'b0));
        if (dut.g_single.first_done_q) begin
          assert (dut.g_single.first_q.page == asked && dut.g_single.first_q.access == asked_access);
          assert (dut.g_single.first_q.in_range == in_range && dut.g_single.first_q.base == '0 && (&dut.g_single.first_q.mask));
          assert (a_q == c[asked_index] && b_q == h[asked_index] && d_q == d[asked_index]);
        end
      end
    end
    always_comb begin
      if (dut.done_q) begin
        assert (dut.page_q == asked && dut.access_q == asked_access && dut.in_range_q == in_range);
        assert (dut.c_q == c[asked_index] && dut.h_q == h[asked_index] && d_q == d[asked_index]);
        assert (sp_q == sp[dut.c_q[K-1:0]] && s_q == s[dut.h_q[K-1:0]]);
      end
    end
  end

endmodule
