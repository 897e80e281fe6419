//! `cofferdam explain`

use manifest::{CODES, Diagnostic, code};
use serde_json::json;

use super::one;
use crate::cli::Explain;
use crate::output::{OK, Outcome, Output};

/// Explains a code, or lists all.
pub fn run(args: &Explain, output: &mut Output) -> Outcome {
    let Some(asked) = &args.code else {
        for known in CODES {
            output.say(format!("{}  {}", known.code, known.title));
        }
        let all: Vec<_> = CODES.iter().map(|c| json!({ "code": c.code, "title": c.title })).collect();
        output.field("codes", json!(all));
        return Ok(OK);
    };
    let digits = asked.trim_start_matches(['C', 'F', 'c', 'f']);
    let Some(found) = code(&format!("CF{digits:0>4}")) else {
        return Err(one(Diagnostic::new("CF0202", format!("there is no code `{asked}`"))
            .limit(format!("{} to {}", CODES[0].code, CODES[CODES.len() - 1].code))
            .rule("codes are CF and four digits")
            .remedy("`cofferdam explain` lists all")));
    };
    output.say(format!("{}: {}\n\n{}", found.code, found.title, found.explains));
    output.field("code", json!(found.code));
    output.field("title", json!(found.title));
    output.field("explains", json!(found.explains));
    Ok(OK)
}
