// Stand-in for a cell that Ibex instantiates and its package does not carry. Elsewhere it is a buffer that synthesis must
// not remove; Ibex needs it only for its hardened configurations.
module prim_buf #(
  parameter int Width = 1
) (
  input        [Width-1:0] in_i,
  output logic [Width-1:0] out_o
);
  assign out_o = in_i;
endmodule
