//! Generates constants and memories of a board from its file, and links with `kernel.ld`.

fn main() -> Result<(), String> {
    board_facts::generate()
}
