// Types and constants that all modules of the SoC share.
//
// Addresses: bit 31 selects the translated half. A translated address is {1, page[18:0], offset[11:0]}; a physical one is
// {0, frame[18:0], offset[11:0]}. Page and frame numbers therefore have equal widths.
package cofferdam_pkg;

  localparam int unsigned OffsetW = 12;
  localparam int unsigned PageW   = 19;

  typedef logic [PageW-1:0] page_t;
  typedef logic [PageW-1:0] frame_t;
  // An exclusive limit of pages: 0 to 2^19.
  typedef logic [PageW:0]   limit_t;

  // The MMU of the SoC. Values are those of the register KIND (mmu_regs). MmuCvm is reserved and refused at elaboration.
  typedef enum logic [2:0] {
    MmuNone   = 3'd0,
    MmuRtmmu  = 3'd1,
    MmuDirect = 3'd2,
    MmuSv32   = 3'd3,
    MmuCvm    = 3'd4
  } mmu_e;

  typedef enum logic [1:0] {
    AccessLoad  = 2'd0,
    AccessStore = 2'd1,
    AccessFetch = 2'd2
  } access_e;

  // Rights of a region (RTMMU) or of a page (direct).
  typedef struct packed {
    logic x;
    logic w;
    logic r;
  } rights_t;

  // Header of a region, in the table `sp`. The stack of the region that begins at page a holds the places a to sp - 1; it is
  // empty when sp <= a, so that zeroed memory is a table of empty stacks. `allocated` and `reserved` are software's.
  typedef struct packed {
    logic       allocated;
    rights_t    rights;
    logic [7:0] reserved;
    limit_t     sp;
  } header_t;

  // Entry of the one-level table of `direct`.
  typedef struct packed {
    logic       valid;
    rights_t    rights;
    logic [8:0] reserved;
    frame_t     frame;
  } direct_entry_t;

  // Entry of an Sv32 table (RISC-V Privileged Architecture, Sv32). Only ppn[18:0] exist on this SoC.
  typedef struct packed {
    logic [21:0] ppn;
    logic [1:0]  rsw;
    logic        d;
    logic        a;
    logic        g;
    logic        u;
    logic        x;
    logic        w;
    logic        r;
    logic        v;
  } sv32_entry_t;

  // Registers that the kernel writes; see mmu_regs.
  typedef struct packed {
    logic       enable;
    logic [4:0] pages_log2;  // k: the domain has 2^k pages
    page_t      base;        // first entry of the domain's tables, or the page of the root table (Sv32)
  } mmu_config_t;

  // Payload of a request; `req` and `gnt` travel beside it, so that no tool sees a loop through them.
  typedef struct packed {
    logic        we;
    logic [3:0]  be;
    logic [31:0] addr;
    logic [31:0] wdata;
  } bus_req_t;

  // Payload of a response; `rvalid` travels beside it.
  typedef struct packed {
    logic        err;
    logic [31:0] rdata;
  } bus_rsp_t;

  // Physical memory map. Each window begins at a multiple of its size.
  localparam logic [31:0] SramBase    = 32'h0000_0000;
  localparam logic [31:0] ConsoleBase = 32'h1000_0000;  // 64 KiB
  localparam logic [31:0] TimerBase   = 32'h1001_0000;  // 64 KiB
  localparam logic [31:0] MmuBase     = 32'h1002_0000;  // 64 KiB
  localparam logic [31:0] Timer1Base  = 32'h1003_0000;  // 4 KiB: a domain may have it
  localparam logic [31:0] Timer2Base  = 32'h1003_1000;  // 4 KiB
  localparam logic [31:0] TableABase  = 32'h2000_0000;  // 16 MiB: regions cache c, then stack pointers sp
  localparam logic [31:0] TableBBase  = 32'h2100_0000;  // 16 MiB: helper h, then stack s
  localparam logic [31:0] TableDBase  = 32'h2200_0000;  // 16 MiB: page table d, or Sv32 tables
  localparam logic [31:0] DramBase    = 32'h4000_0000;
  // No device answers here. An access that has to fail is sent to it.
  localparam logic [31:0] NowhereBase = 32'h3000_0000;

  function automatic logic allowed(rights_t rights, access_e access);
    unique case (access)
      AccessLoad:  return rights.r;
      AccessStore: return rights.w;
      AccessFetch: return rights.x;
      default:     return 1'b0;
    endcase
  endfunction

  // Ones in the bits that number the 2^k pages of a domain.
  function automatic page_t page_mask(logic [4:0] pages_log2);
    return page_t'((limit_t'(1) << pages_log2) - limit_t'(1));
  endfunction

endpackage
