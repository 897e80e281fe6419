//! Generates constants and memories from `board.toml`, and links with `kernel.ld`.

fn main() -> Result<(), String> {
    board_facts::generate()
}
