// Local memory with two ports: fetches read port 0, data reads and writes port 1.
//
// Latency: a request is always granted; its response comes one cycle later. Contents are not initialised.
module sram
  import cofferdam_pkg::*;
#(
  parameter int unsigned BytesLog2 = 19
) (
  input  logic           clk_i,
  input  logic           rst_ni,

  input  logic     [1:0] req_i,
  input  bus_req_t [1:0] req_data_i,
  output logic     [1:0] rvalid_o,
  output bus_rsp_t [1:0] rsp_o
);

  localparam int unsigned WordW = BytesLog2 - 2;

  logic [31:0] mem [2**WordW];

  logic [1:0]       rvalid_q;
  logic [1:0][31:0] word_q;
  logic [WordW-1:0] index;

  assign index = req_data_i[1].addr[WordW+1:2];

  always_ff @(posedge clk_i) begin
    if (req_i[0]) word_q[0] <= mem[req_data_i[0].addr[WordW+1:2]];
  end
  always_ff @(posedge clk_i) begin
    if (req_i[1]) begin
      if (req_data_i[1].we) begin
        for (int b = 0; b < 4; b++) begin
          if (req_data_i[1].be[b]) mem[index][8*b+:8] <= req_data_i[1].wdata[8*b+:8];
        end
      end else begin
        word_q[1] <= mem[index];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rvalid_q <= '0;
    else rvalid_q <= req_i;
  end

  assign rvalid_o = rvalid_q;
  assign rsp_o[0] = '{err: 1'b0, rdata: word_q[0]};
  assign rsp_o[1] = '{err: 1'b0, rdata: word_q[1]};

  logic unused;
  assign unused = ^{req_data_i[0].we, req_data_i[0].be, req_data_i[0].wdata, req_data_i[0].addr[31:WordW+2],
                    req_data_i[0].addr[1:0], req_data_i[1].addr[31:WordW+2], req_data_i[1].addr[1:0]};

endmodule
