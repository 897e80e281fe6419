// No MMU, for one port of the core: the upper half shows DRAM as it is, to everybody. The cost of all others is the
// difference to this one. It isolates nothing.
//
// 0x8000_0000 + x is the byte x of DRAM for x < 2^30; the rest of the upper half is sent to where nothing answers.
// Latency: none; purely combinational.
module mmu_none
  import cofferdam_pkg::*;
(
  input  logic [31:0] addr_i,
  output logic [31:0] addr_o
);

  always_comb begin
    addr_o = addr_i;
    if (addr_i[31]) addr_o = addr_i[30] ? {NowhereBase[31:OffsetW], addr_i[OffsetW-1:0]} : {2'b01, addr_i[29:0]};
  end

endmodule
