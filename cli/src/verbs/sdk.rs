//! `cofferdam sdk`

use build_tool::{Install, Toolchain, cmake_toolchain, compiler_flags, linker_flags, write_file};
use serde_json::json;

use super::one;
use crate::cli::Sdk;
use crate::output::{OK, Outcome, Output};

/// Prints what other build systems need to make domains.
pub fn run(args: &Sdk, output: &mut Output) -> Outcome {
    if args.header {
        let mut text = String::new();
        if abi::header::write(&mut text).is_ok() {
            output.say(text.trim_end());
            output.field("header", json!(text));
        }
        return Ok(OK);
    }
    let install = Install::find().map_err(one)?;
    let board = install.board(&args.board).map_err(one)?;
    let tools = Toolchain::find(&install, &board.core).map_err(one)?;
    if let Some(path) = &args.cmake {
        let text = cmake_toolchain(&install, &tools, &board).map_err(one)?;
        write_file(path, text.as_bytes()).map_err(one)?;
        output.say(format!("wrote {}: cmake -DCMAKE_TOOLCHAIN_FILE={}", path.display(), path.display()));
        output.field("cmake", json!(path));
        return Ok(OK);
    }
    let cflags = compiler_flags(&install, &tools, &board).map_err(one)?;
    let ldflags = linker_flags(&install, &tools, &board).map_err(one)?;
    output.field("cc", json!(tools.gcc));
    output.field("cxx", json!(tools.gxx()));
    output.field("cflags", json!(cflags));
    output.field("ldflags", json!(ldflags));
    match (args.cflags, args.ldflags) {
        (true, _) => output.say(cflags.join(" ")),
        (_, true) => output.say(ldflags.join(" ")),
        _ => {
            output.say(format!("CC={}", tools.gcc.display()));
            output.say(format!("CXX={}", tools.gxx().display()));
            output.say(format!("CFLAGS={}", cflags.join(" ")));
            output.say(format!("LDFLAGS={}", ldflags.join(" ")));
        }
    }
    Ok(OK)
}
