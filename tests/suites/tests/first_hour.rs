//! Performs docs/first-hour.md: writes its files, runs its commands, and compares what they print.
//!
//! A block `c NAME` is a file, `toml >> NAME` is put at the end of one, and a block `console` has commands behind `$`, each with
//! lines that its output holds in this order; `...` stands for anything.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use system_tests::root;
use tempfile::TempDir;

/// The directory in which the page's reader is.
struct Reader {
    directory: PathBuf,
}

impl Reader {
    fn file(&self, name: &str, text: &str, append: bool) {
        let path = self.directory.join(name);
        let before = if append { fs::read_to_string(&path).unwrap() } else { String::new() };
        fs::write(&path, before + text).unwrap();
    }

    fn command(&mut self, command: &str, expected: &[&str]) {
        if let Some(to) = command.strip_prefix("cd ") {
            self.directory.push(to);
            return;
        }
        let path = format!("{}:{}", root().display(), std::env::var("PATH").unwrap_or_default());
        let script = format!("{command} 2>&1");
        let output = Command::new("sh").args(["-c", &script]).env("PATH", path).current_dir(&self.directory).output();
        let seen = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
        let mut lines = seen.lines();
        for line in expected {
            assert!(lines.any(|seen| fits(seen.trim(), line.trim())), "`{command}` printed no `{line}` there:\n{seen}");
        }
    }

    fn block(&mut self, kind: &str, text: &[&str]) {
        match kind.split_whitespace().collect::<Vec<_>>()[..] {
            ["console"] => {
                let mut rest = text;
                while let Some((first, behind)) = rest.split_first() {
                    let command = first.strip_prefix("$ ").unwrap_or_else(|| panic!("`{first}` is no command"));
                    let lines = behind.iter().take_while(|line| !line.starts_with("$ ")).count();
                    self.command(command, &behind[..lines]);
                    rest = &behind[lines..];
                }
            }
            ["c", name] => self.file(name, &(text.join("\n") + "\n"), false),
            ["toml", ">>", name] => self.file(name, &(text.join("\n") + "\n"), true),
            ["sh"] => {}
            _ => panic!("nothing is known of a block `{kind}`"),
        }
    }
}

/// Whether a line is the expected one.
fn fits(seen: &str, expected: &str) -> bool {
    let mut parts = expected.split("...");
    let Some(mut rest) = seen.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last == Some("")
}

#[test]
fn the_first_hour_goes_as_the_page_says() {
    let page = fs::read_to_string(root().join("docs/first-hour.md")).unwrap();
    let scratch = TempDir::new().unwrap();
    let mut reader = Reader { directory: scratch.path().to_path_buf() };
    let mut lines = page.lines();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        reader.block(kind, &text);
        blocks += 1;
    }
    assert!(blocks > 10, "the page has {blocks} blocks");
}

#[test]
fn dots_stand_for_anything() {
    assert!(fits("a 1.5 us, b", "a ... us, b") && fits("a 7", "a ...") && fits("x", "x"));
    assert!(!fits("a 1.5 ms, b", "a ... us, b") && !fits("xy", "x") && !fits("yx", "x"));
}
