// The look-ups of both ports of the core and the table memories that the chosen MMU has: RTMMU {c, sp}, {h, s} and d;
// `direct` and Sv32 d alone. Port 0 fetches, port 1 data.
//
// The kernel reaches the memories by three bus windows (A, B, D); a window whose memory is absent answers `err`.
// Latency of look-ups: see the modules. Latency of windows: one cycle.
module mmu_tables
  import cofferdam_pkg::*;
#(
  parameter mmu_e        Kind        = MmuRtmmu,
  parameter bit          DoubleSpeed = 1'b0,
  parameter int unsigned TableW      = 19,
  parameter int unsigned TlbEntries  = 0
) (
  input  logic           clk_i,
  input  logic           rst_ni,

  input  mmu_config_t    config_i,
  input  logic           flush_i,
  input  logic    [1:0]  start_i,
  input  page_t   [1:0]  page_i,
  input  access_e        access_i [2],
  output logic    [1:0]  done_o,
  output logic    [1:0]  hit_o,
  output frame_t  [1:0]  frame_o,

  // Windows 0: A, 1: B, 2: D.
  input  logic    [2:0]  bus_req_i,
  input  bus_req_t       bus_req_data_i,
  output logic    [2:0]  bus_rvalid_o,
  output bus_rsp_t [2:0] bus_rsp_o
);

  logic [1:0]             read_en, second_en;
  logic [1:0][TableW-1:0] read_idx, sp_idx, s_idx;
  logic [1:0][31:0]       c_word, h_word, sp_word, s_word, d_word;

  single_ram #(.TableW(TableW)) u_table_d (
    .clk_i, .rst_ni, .en_i(read_en), .idx_i(read_idx), .word_o(d_word),
    .bus_req_i(bus_req_i[2]), .bus_req_data_i, .bus_rvalid_o(bus_rvalid_o[2]), .bus_rsp_o(bus_rsp_o[2])
  );

  if (Kind == MmuRtmmu) begin : g_pairs
    pair_ram #(.TableW(TableW), .DoubleSpeed(DoubleSpeed)) u_table_a (
      .clk_i, .rst_ni, .first_en_i(read_en), .first_idx_i(read_idx), .first_o(c_word),
      .second_en_i(second_en), .second_idx_i(sp_idx), .second_o(sp_word),
      .bus_req_i(bus_req_i[0]), .bus_req_data_i, .bus_rvalid_o(bus_rvalid_o[0]), .bus_rsp_o(bus_rsp_o[0])
    );
    pair_ram #(.TableW(TableW), .DoubleSpeed(DoubleSpeed)) u_table_b (
      .clk_i, .rst_ni, .first_en_i(read_en), .first_idx_i(read_idx), .first_o(h_word),
      .second_en_i(second_en), .second_idx_i(s_idx), .second_o(s_word),
      .bus_req_i(bus_req_i[1]), .bus_req_data_i, .bus_rvalid_o(bus_rvalid_o[1]), .bus_rsp_o(bus_rsp_o[1])
    );
  end else begin : g_no_pairs
    for (genvar w = 0; w < 2; w++) begin : g_window
      logic rvalid_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) rvalid_q <= 1'b0;
        else rvalid_q <= bus_req_i[w];
      end
      assign bus_rvalid_o[w] = rvalid_q;
      assign bus_rsp_o[w]    = '{err: 1'b1, rdata: '0};
    end
    assign {c_word, h_word, sp_word, s_word} = '0;
    logic unused;
    assign unused = ^{second_en, sp_idx, s_idx, c_word, h_word, sp_word, s_word};
  end

  for (genvar p = 0; p < 2; p++) begin : g_port
    if (Kind == MmuRtmmu) begin : g_rtmmu
      mmu_rtmmu #(.TableW(TableW), .DoubleSpeed(DoubleSpeed)) u_mmu (
        .clk_i, .rst_ni, .config_i,
        .start_i(start_i[p]), .page_i(page_i[p]), .access_i(access_i[p]),
        .done_o(done_o[p]), .hit_o(hit_o[p]), .frame_o(frame_o[p]),
        .first_en_o(read_en[p]), .first_idx_o(read_idx[p]),
        .c_i(page_t'(c_word[p])), .h_i(page_t'(h_word[p])), .d_i(frame_t'(d_word[p])),
        .second_en_o(second_en[p]), .sp_idx_o(sp_idx[p]), .s_idx_o(s_idx[p]),
        .sp_i(header_t'(sp_word[p])), .s_i(page_t'(s_word[p]))
      );
    end else begin : g_one_memory
      assign second_en[p] = 1'b0;
      assign sp_idx[p]    = '0;
      assign s_idx[p]     = '0;
      if (Kind == MmuDirect) begin : g_direct
        mmu_direct #(.TableW(TableW)) u_mmu (
          .clk_i, .rst_ni, .config_i,
          .start_i(start_i[p]), .page_i(page_i[p]), .access_i(access_i[p]),
          .done_o(done_o[p]), .hit_o(hit_o[p]), .frame_o(frame_o[p]),
          .first_en_o(read_en[p]), .first_idx_o(read_idx[p]), .d_i(direct_entry_t'(d_word[p]))
        );
      end else begin : g_sv32
        mmu_sv32 #(.TableW(TableW), .TlbEntries(TlbEntries)) u_mmu (
          .clk_i, .rst_ni, .config_i, .flush_i,
          .start_i(start_i[p]), .page_i(page_i[p]), .access_i(access_i[p]),
          .done_o(done_o[p]), .hit_o(hit_o[p]), .frame_o(frame_o[p]),
          .read_en_o(read_en[p]), .read_idx_o(read_idx[p]), .entry_i(sv32_entry_t'(d_word[p]))
        );
      end
    end
  end

  if (Kind != MmuSv32) begin : g_no_flush
    logic unused;
    assign unused = flush_i;
  end

endmodule
