//! `cofferdam completions`, `man` and `schema`: the command for shells and manuals, the manifest for editors.

use clap::CommandFactory;
use serde_json::json;

use crate::cli::{Cli, Completions};
use crate::output::{OK, Outcome, Output};

/// Prints the completions of a shell.
pub fn completions(args: &Completions, output: &mut Output) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cofferdam", &mut text);
    Ok(print(&text, output))
}

/// Prints the manual page, in roff.
pub fn man(output: &mut Output) -> Outcome {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut text).expect("memory can be written");
    Ok(print(&text, output))
}

/// Prints the schema of manifests.
pub fn schema(output: &mut Output) -> Outcome {
    let schema = manifest::json_schema();
    output.say(serde_json::to_string_pretty(&schema).expect("a schema has only strings for keys"));
    output.field("schema", schema);
    Ok(OK)
}

fn print(text: &[u8], output: &mut Output) -> u8 {
    let text = String::from_utf8_lossy(text);
    output.say(text.trim_end());
    output.field("text", json!(text));
    OK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_and_the_manual_know_every_verb() {
        let (mut words, mut page) = (Vec::new(), Vec::new());
        clap_complete::generate(clap_complete::Shell::Bash, &mut Cli::command(), "cofferdam", &mut words);
        clap_mangen::Man::new(Cli::command()).render(&mut page).unwrap();
        let (words, page) = (String::from_utf8(words).unwrap(), String::from_utf8(page).unwrap());
        for verb in Cli::command().get_subcommands() {
            assert!(words.contains(&format!("cofferdam,{})", verb.get_name())), "{}", verb.get_name());
            let named = format!("cofferdam\\-{}(1)", verb.get_name());
            assert!(page.contains(&named), "{named}");
        }
    }
}
