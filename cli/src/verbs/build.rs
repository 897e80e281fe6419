//! `cofferdam build`

use build_tool::Install;
use serde_json::json;

use super::{build_system, instead, load, one};
use crate::cli::Build;
use crate::output::{OK, Outcome, Output};

/// Builds the image.
pub fn run(args: &Build, output: &mut Output) -> Outcome {
    let install = Install::find_for(&args.manifest).map_err(one)?;
    let loaded = load(&install, &args.manifest, instead(&args.board, &args.profile))?;
    let built = build_system(&install, loaded, !args.no_budgets, output)?;
    output.field("image", json!(built.image));
    output.field("layout", json!(built.dir.join("layout.json")));
    output.field("domains", json!(built.domains));
    output.say(format!("image: {}", built.image.display()));
    Ok(OK)
}
