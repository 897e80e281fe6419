// Proofs (b) and (c): no address leaves an MMU that its table does not hold, and latencies are those stated.
//
// The MMU is `mmu` as it is simulated: ports, look-ups, registers, table memories. Tables hold anything (they are not even a
// table of an operation's making), the core asks anything, the bus grants and answers at any time. The kernel's accesses go
// through port 1 to registers and tables, as on the SoC's bus.
//
// (b) A request of the bus is either an untranslated request of the core, as it is, or a translated one of a granted request,
//     with the frame that the tables hold for its page, with rights for its access, and all else as asked. It is made once.
//     A translated request without that is answered with `err` and never reaches the bus. All tables read are the domain's own.
// (c) A translated request reaches the bus, or is known to be a fault, exactly Latency cycles after its grant.
//     A fault is answered in the cycle after, or as soon as the bus has answered what is ahead.
//
// By induction over the invariants at the end, for RTMMU at both speeds and for `direct`; sv32_walks has the look-up of Sv32. At double speed the
// falling edge of the clock makes the first read: proofs.toml has it as a read within the cycle, which is what the rising edge sees.
//
// The configuration of a look-up is that of its grant: registers may change while it is under way, and nothing of the new one is in its result.
//
// Environment: the core holds a request until it is granted; a bus answers what it granted, one at a time; tables do not
// change while a fetch is looked up (one core, which the kernel's stores belong to).
module mmu_boundary
  import cofferdam_pkg::*;
#(
  parameter int unsigned Mmu         = 1,
  parameter bit          DoubleSpeed = 1'b0,
  parameter int unsigned TableW      = 2,
  parameter bit          Invariants  = 1'b1   // 0: the claims alone, for mutants
) (
  input logic           clk_i,
  input logic     [1:0] core_req,
  input bus_req_t [1:0] core_req_data,
  input logic     [1:0] bus_gnt,
  input logic     [1:0] bus_rvalid,
  input bus_rsp_t [1:0] bus_rsp,
  input logic     [1:0] slave        // which slave an untranslated request of port 1 is for: 0 memory, 1 registers, 2 tables
);

  localparam mmu_e        Kind      = mmu_e'(Mmu);
  localparam logic [1:0]  Latency   = Kind == MmuRtmmu && !DoubleSpeed ? 2'd2 : 2'd1;

  logic started;
  initial started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;
  logic rst_n;
  assign rst_n = started;

  logic     [1:0] core_gnt, core_rvalid, bus_req;
  bus_req_t [1:0] bus_req_data;
  bus_rsp_t [1:0] core_rsp;
  logic           regs_req, regs_rvalid;
  logic     [2:0] table_req, table_rvalid;
  bus_rsp_t       regs_rsp;
  bus_rsp_t [2:0] table_rsp;

  mmu #(.Kind(Kind), .DoubleSpeed(DoubleSpeed), .TableW(TableW)) dut (
    .clk_i, .rst_ni(rst_n),
    .core_req_i(core_req), .core_gnt_o(core_gnt), .core_req_data_i(core_req_data),
    .core_rvalid_o(core_rvalid), .core_rsp_o(core_rsp),
    .bus_req_o(bus_req), .bus_gnt_i(bus_gnt), .bus_req_data_o(bus_req_data),
    .bus_rvalid_i(bus_rvalid), .bus_rsp_i(bus_rsp),
    .regs_req_i(regs_req), .regs_rvalid_o(regs_rvalid), .regs_rsp_o(regs_rsp),
    .table_req_i(table_req), .table_rvalid_o(table_rvalid), .table_rsp_o(table_rsp),
    .slave_req_data_i(bus_req_data[1])
  );

  // --- what of a granted, translated request is known ----------------------------------------------------------------

  logic     [1:0] pending;     // granted, and neither on the bus nor answered
  bus_req_t [1:0] asked;
  logic     [1:0][1:0] age;    // cycles since the grant, up to 3
  logic     [1:0] known;       // it has been on the bus without a grant
  logic     [1:0] owed;        // the bus owes a response

  logic [1:0] fault_answer;
  for (genvar p = 0; p < 2; p++) begin : g_watch
    initial begin
      pending[p] = 1'b0;
      owed[p]    = 1'b0;
      known[p]   = 1'b0;
    end
    assign fault_answer[p] = core_rvalid[p] && !bus_rvalid[p];

    logic begins, on_bus, leaves;
    assign begins = core_req[p] && core_gnt[p] && core_req_data[p].addr[31];
    assign on_bus = bus_req[p] && pending[p];
    assign leaves = (on_bus && bus_gnt[p]) || fault_answer[p];

    always_ff @(posedge clk_i) begin
      if (rst_n) begin
        owed[p]    <= (bus_req[p] && bus_gnt[p]) || (owed[p] && !bus_rvalid[p]);
        pending[p] <= begins || (pending[p] && !leaves);
        known[p]   <= on_bus && !bus_gnt[p];
        if (begins) begin
          asked[p] <= core_req_data[p];
          age[p]   <= 2'd1;
        end else if (age[p] != 2'd3) begin
          age[p] <= age[p] + 2'd1;
        end
      end
    end

    // Environment: the protocols.
    logic     held;
    bus_req_t held_data;
    initial held = 1'b0;
    always_ff @(posedge clk_i) begin
      held      <= rst_n && core_req[p] && !core_gnt[p];
      held_data <= core_req_data[p];
    end
    always_comb begin
      if (!rst_n) assume (!core_req[p] && !bus_rvalid[p]);
      if (held) assume (core_req[p] && core_req_data[p] == held_data);
      if (bus_rvalid[p]) assume (owed[p]);
      if (bus_gnt[p]) assume (!owed[p] || bus_rvalid[p]);
      if (p == 0) assume (!core_req_data[p].we);
    end
  end

  // Environment: untranslated requests of port 1 reach a slave, others never do; none reaches tables while a fetch is looked up.
  logic untranslated;
  assign untranslated = bus_req[1] && bus_gnt[1] && !pending[1];
  assign regs_req     = untranslated && slave == 2'd1;
  assign table_req    = untranslated && slave == 2'd2 ? 3'b001 << bus_req_data[1].addr[25:24] : 3'b0;
  always_comb if (table_req != '0) assume (!pending[0] && !(core_req[0] && core_req_data[0].addr[31]));

  // --- what the tables hold ----------------------------------------------------------------------------------------

  // The configuration now, and that of the look-up under way.
  mmu_config_t       mmu_config;
  mmu_config_t [1:0] taken;
  assign mmu_config = dut.u_regs.config_q;

  for (genvar p = 0; p < 2; p++) begin : g_claim
    page_t   page;
    access_e access;
    logic    inside_domain, admitted;
    frame_t  frame;

    always_ff @(posedge clk_i) if (core_req[p] && core_gnt[p] && core_req_data[p].addr[31]) taken[p] <= mmu_config;

    assign page   = asked[p].addr[30:12];
    assign access = p == 0 ? AccessFetch : asked[p].we ? AccessStore : AccessLoad;
    assign inside_domain = taken[p].enable && (page >> taken[p].pages_log2) == '0;

    if (Kind == MmuRtmmu) begin : g_rtmmu
      logic [TableW-1:0] mask, at;
      page_t   c, h, s;
      header_t sp;
      assign mask  = TableW'(page_mask(taken[p].pages_log2));
      assign at    = (TableW'(taken[p].base) & ~mask) | (TableW'(page) & mask);
      assign c     = page_t'(dut.g_translating.u_tables.g_pairs.u_table_a.mem[{1'b0, at}]);
      assign h     = page_t'(dut.g_translating.u_tables.g_pairs.u_table_b.mem[{1'b0, at}]);
      assign sp    = header_t'(dut.g_translating.u_tables.g_pairs.u_table_a.mem[{1'b1, (at & ~mask) | (TableW'(c) & mask)}]);
      assign s     = page_t'(dut.g_translating.u_tables.g_pairs.u_table_b.mem[{1'b1, (at & ~mask) | (TableW'(h) & mask)}]);
      assign frame = frame_t'(dut.g_translating.u_tables.u_table_d.mem[at]);
      assign admitted = inside_domain && c <= page && c <= h && limit_t'(h) < sp.sp && s == page && allowed(sp.rights, access);
      // (b) Tables of other domains are not even read. At double speed both reads are of the cycle in which a look-up starts.
      mmu_config_t       second;
      logic [TableW-1:0] now_mask, second_mask;
      assign second      = DoubleSpeed ? mmu_config : taken[p];
      assign now_mask    = TableW'(page_mask(mmu_config.pages_log2));
      assign second_mask = TableW'(page_mask(second.pages_log2));
      always_comb begin
        if (rst_n && dut.g_translating.u_tables.read_en[p])
          assert ((dut.g_translating.u_tables.read_idx[p] & ~now_mask) == (TableW'(mmu_config.base) & ~now_mask));
        if (rst_n && dut.g_translating.u_tables.second_en[p]) begin
          assert ((dut.g_translating.u_tables.sp_idx[p] & ~second_mask) == (TableW'(second.base) & ~second_mask));
          assert ((dut.g_translating.u_tables.s_idx[p] & ~second_mask) == (TableW'(second.base) & ~second_mask));
        end
      end
    end else if (Kind == MmuDirect) begin : g_direct
      logic [TableW-1:0] mask, at;
      direct_entry_t entry;
      assign mask  = TableW'(page_mask(taken[p].pages_log2));
      assign at    = (TableW'(taken[p].base) & ~mask) | (TableW'(page) & mask);
      assign entry = direct_entry_t'(dut.g_translating.u_tables.u_table_d.mem[at]);
      assign frame = entry.frame;
      assign admitted = inside_domain && entry.valid && allowed(entry.rights, access);
    end

    logic now;
    assign now = pending[p] && !known[p];
    always_comb begin
      if (rst_n) begin
        // (b)
        if (bus_req[p]) begin
          if (pending[p]) begin
            assert (admitted);
            assert (bus_req_data[p].addr == {1'b0, frame, asked[p].addr[11:0]});
            assert (bus_req_data[p].we == asked[p].we && bus_req_data[p].be == asked[p].be);
            assert (bus_req_data[p].wdata == asked[p].wdata);
          end else begin
            assert (core_req[p] && !core_req_data[p].addr[31] && bus_req_data[p] == core_req_data[p]);
            assert (core_gnt[p] == bus_gnt[p]);
          end
        end
        if (fault_answer[p]) begin
          assert (pending[p] && !admitted && core_rsp[p].err && !owed[p]);
        end else if (core_rvalid[p]) begin
          assert (core_rsp[p] == bus_rsp[p]);
        end
        if (core_gnt[p]) assert (core_req[p]);

        // (c)
        if (now && bus_req[p]) assert (age[p] == Latency);
        if (now && admitted && age[p] == Latency) assert (bus_req[p]);
        if (pending[p] && age[p] < Latency) assert (!bus_req[p] && !fault_answer[p]);
        if (pending[p] && !admitted && age[p] == Latency + 2'd1 && !owed[p]) assert (fault_answer[p]);
        if (core_req[p] && core_req_data[p].addr[31] && !pending[p]) assert (core_gnt[p]);
      end
    end
  end

  // --- invariants for the induction --------------------------------------------------------------------------------

  if (Invariants) begin : g_invariants
    always_comb if (!started) assert (pending == '0 && owed == '0 && known == '0);
    for (genvar p = 0; p < 2; p++) begin : g_port
      logic in_lookup, in_issue, in_fault;
      assign in_lookup = dut.g_translating.g_port[p].u_port.state_q == 2'd1;
      assign in_issue  = dut.g_translating.g_port[p].u_port.state_q == 2'd2;
      assign in_fault  = dut.g_translating.g_port[p].u_port.state_q == 2'd3;
      always_comb begin
        if (rst_n) begin
          assert (pending[p] == (in_lookup || in_issue || in_fault));
          assert (known[p] == in_issue);
          assert (dut.g_translating.g_port[p].u_port.outstanding_q == owed[p]);
          if (pending[p]) begin
            assert (dut.g_translating.g_port[p].u_port.held_q == asked[p] && asked[p].addr[31]);
            assert (age[p] != '0 && in_lookup == (age[p] <= Latency));
          end
          if (in_issue) begin
            assert (g_claim[p].admitted);
            assert (dut.g_translating.g_port[p].u_port.frame_q == g_claim[p].frame);
          end
          if (in_fault) assert (!g_claim[p].admitted);
        end
      end
      if (Kind == MmuRtmmu && !DoubleSpeed) begin : g_rtmmu
        always_comb begin
          if (rst_n) begin
            assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.g_single.first_done_q == (in_lookup && age[p] == 2'd1));
            assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.done_q == (in_lookup && age[p] == 2'd2));
            if (in_lookup) assert (dut.g_translating.u_tables.u_table_d.word_q[p][18:0] == g_claim[p].frame);
            if (in_lookup && age[p] == 2'd1) begin
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.g_single.first_q.page == g_claim[p].page);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.g_single.first_q.access == g_claim[p].access);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.g_single.first_q.in_range == g_claim[p].inside_domain);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.g_single.first_q.mask == g_claim[p].g_rtmmu.mask);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.g_single.first_q.base ==
                      (TableW'(taken[p].base) & ~g_claim[p].g_rtmmu.mask));
              assert (page_t'(dut.g_translating.u_tables.g_pairs.u_table_a.word_q[p]) == g_claim[p].g_rtmmu.c);
              assert (page_t'(dut.g_translating.u_tables.g_pairs.u_table_b.word_q[p]) == g_claim[p].g_rtmmu.h);
            end
            if (in_lookup && age[p] == 2'd2) begin
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.page_q == g_claim[p].page);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.access_q == g_claim[p].access);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.in_range_q == g_claim[p].inside_domain);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.c_q == g_claim[p].g_rtmmu.c);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.h_q == g_claim[p].g_rtmmu.h);
              assert (dut.g_translating.u_tables.g_pairs.u_table_a.word_q[p] == g_claim[p].g_rtmmu.sp);
              assert (page_t'(dut.g_translating.u_tables.g_pairs.u_table_b.word_q[p]) == g_claim[p].g_rtmmu.s);
            end
          end
        end
      end
      if (Kind == MmuRtmmu && DoubleSpeed) begin : g_double
        always_comb begin
          if (rst_n) begin
            assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.done_q == in_lookup);
            if (in_lookup) begin
              assert (dut.g_translating.u_tables.u_table_d.word_q[p][18:0] == g_claim[p].frame);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.page_q == g_claim[p].page);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.access_q == g_claim[p].access);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.in_range_q == g_claim[p].inside_domain);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.c_q == g_claim[p].g_rtmmu.c);
              assert (dut.g_translating.u_tables.g_port[p].g_rtmmu.u_mmu.h_q == g_claim[p].g_rtmmu.h);
              assert (dut.g_translating.u_tables.g_pairs.u_table_a.word_q[p] == g_claim[p].g_rtmmu.sp);
              assert (page_t'(dut.g_translating.u_tables.g_pairs.u_table_b.word_q[p]) == g_claim[p].g_rtmmu.s);
            end
          end
        end
      end
      if (Kind == MmuDirect) begin : g_direct
        always_comb begin
          if (rst_n) begin
            assert (dut.g_translating.u_tables.g_port[p].g_one_memory.g_direct.u_mmu.done_q == in_lookup);
            if (in_lookup) begin
              assert (dut.g_translating.u_tables.g_port[p].g_one_memory.g_direct.u_mmu.access_q == g_claim[p].access);
              assert (dut.g_translating.u_tables.g_port[p].g_one_memory.g_direct.u_mmu.inside_q == g_claim[p].inside_domain);
              assert (dut.g_translating.u_tables.u_table_d.word_q[p] == g_claim[p].g_direct.entry);
            end
          end
        end
      end
    end
  end

endmodule
