//! Generates the paces of boards' cores from their files.

fn main() -> Result<(), String> {
    board_facts::generate_paces("../../boards")
}
