//! Generates the table of boards from their files.

fn main() -> Result<(), String> {
    board_facts::generate_places("../../boards")
}
