//! Opens the page in headless Chromium: every panel is drawn, nothing fails, at the width of a desk and of a phone. The input is
//! synthetic (`synthetic.rs`).

mod synthetic;

use std::path::{Path, PathBuf};
use std::process::Command;

use report::Report;

/// Panels of the page.
const PANELS: usize = 16;

fn sample() -> Report {
    let system = synthetic::system();
    let (events, summary) = synthetic::run(&system);
    let mut report = Report::build(&system, &summary, events).expect("room for the jobs");
    report.set_console(synthetic::CONSOLE);
    report
}

/// The same on a chip with page tables, where memory is granted at run time.
fn paged() -> Report {
    let system = synthetic::on_pages(synthetic::system());
    let (mut events, mut summary) = synthetic::run(&system);
    synthetic::translated(&mut summary);
    events.extend(synthetic::grants());
    events.sort_by_key(|event| event.cycle);
    summary.events = events.len() as u64;
    Report::build(&system, &summary, events).expect("room for the jobs")
}

/// The directory of this test's pages and pictures: inside the target directory, so that they can
/// be looked at afterwards.
fn place(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&directory).expect("the target directory can be written");
    directory.join(name)
}

fn chromium(page: &Path, width: u32, height: u32, action: &str) -> String {
    let profile = tempfile::tempdir().expect("a directory for the browser");
    let output = Command::new(std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into()))
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},{height}"))
        .args([action, "--enable-logging=stderr", "--v=0"])
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium is installed (scripts/setup.sh)");
    assert!(output.status.success(), "chromium: {}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8_lossy(&output.stderr);
    let console: Vec<_> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "console: {console:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The value of an attribute of the `html` element.
fn attribute<'a>(dom: &'a str, name: &str) -> Option<&'a str> {
    let start = dom.find("<html")?;
    let head = &dom[start..start + dom[start..].find('>')?];
    let value = &head[head.find(&format!("{name}=\""))? + name.len() + 2..];
    value.split('"').next()
}

fn check(dom: &str, panels: usize) {
    assert_eq!(attribute(dom, "data-first-error"), None);
    assert_eq!(attribute(dom, "data-panels"), Some(panels.to_string().as_str()));
    assert_eq!(attribute(dom, "data-drawn"), Some(panels.to_string().as_str()));
}

fn drawn(report: &Report, name: &str) {
    let page = place(&format!("{name}.html"));
    assert!(report.verdict.ok, "{:?}", report.verdict.failures);
    report.write_html(&page).expect("the page can be written");
    let panels = report.to_html().matches("data-panel=").count();
    assert_eq!(panels, PANELS);
    for (width, height) in [(1280, 900), (390, 844)] {
        check(&chromium(&page, width, height, "--dump-dom"), panels);
        let picture = place(&format!("{name}-{width}.png"));
        chromium(&page, width, height, &format!("--screenshot={}", picture.display()));
        let bytes = std::fs::metadata(picture).expect("a picture").len();
        assert!(bytes > 20_000, "a picture of {bytes} bytes shows little");
    }
}

#[test]
fn every_panel_is_drawn_at_two_sizes() {
    drawn(&sample(), "report");
}

#[test]
fn every_panel_is_drawn_where_there_are_page_tables() {
    let report = paged();
    assert!(report.grants_total == 10 && report.grants.iter().filter(|grant| grant.until.is_some()).count() == 5);
    drawn(&report, "paged");
}

#[test]
fn a_page_of_an_empty_run_is_drawn_too() {
    let system = report::SystemDescription { cpu_hz: 1, ticks_per_second: 1, ..Default::default() };
    let (_, summary) = synthetic::run(&synthetic::system());
    let summary = record::Summary { domains: Vec::new(), ..summary };
    let page = place("empty.html");
    let report = Report::build(&system, &summary, []).expect("room for the jobs");
    report.write_html(&page).expect("the page can be written");
    let dom = chromium(&page, 1280, 900, "--dump-dom");
    assert_eq!(
        attribute(&dom, "data-panels"),
        attribute(&dom, "data-drawn"),
        "{:?}",
        attribute(&dom, "data-first-error")
    );
}

/// Uses every control of the timeline once, in this order, and notes for which of them the drawing changed.
const CONTROLS: &str = r#"<script>
const canvas = document.getElementById("detail"), changed = [];
function use(name, act) {
  const before = canvas.toDataURL();
  act();
  if (canvas.toDataURL() !== before) changed.push(name);
}
const click = (view) => () => document.querySelector("[data-view=" + view + "]").click();
const key = (name) => () => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
const point = (type, x) => {
  const box = canvas.getBoundingClientRect();
  return new PointerEvent(type, { clientX: box.left + x, clientY: box.top + 60, pointerId: 1 });
};
canvas.setPointerCapture = () => {};
for (const view of ["in", "out", "right", "left", "all", "first", "next", "previous"]) use(view, click(view));
for (const name of ["ArrowRight", "ArrowLeft", "+", "-", "End", "Home", "PageDown", "PageUp"]) use(name, key(name));
use("plain wheel without focus", () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -300 })));
canvas.focus();
use("wheel with focus", () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -300 })));
use("wheel", () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, ctrlKey: true })));
use("drag", () => { canvas.dispatchEvent(point("pointerdown", 400)); canvas.dispatchEvent(point("pointermove", 300)); canvas.dispatchEvent(point("pointerup", 300)); });
const jump = document.getElementById("jump");
use("jump", () => { jump.selectedIndex = 2; jump.dispatchEvent(new Event("change")); });
use("link", () => { click("all")(); document.querySelector("a[data-goto]").click(); });
use("overview", () => document.getElementById("overview").dispatchEvent(point("pointerdown", 700)));
click("first")();
canvas.dispatchEvent(point("pointermove", 500));
document.documentElement.dataset.changed = changed.join(" ");
document.documentElement.dataset.tip = document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent;
</script></body>"#;

#[test]
fn every_control_of_the_timeline_works() {
    let page = place("controls.html");
    std::fs::write(&page, sample().to_html().replace("</body>", CONTROLS)).expect("the page can be written");
    let dom = chromium(&page, 1280, 900, "--dump-dom");
    check(&dom, PANELS);
    let all = "in out right left all first next previous ArrowRight ArrowLeft + - End Home PageDown PageUp wheel with focus wheel drag jump link overview";
    assert_eq!(attribute(&dom, "data-changed"), Some(all));
    assert!(
        attribute(&dom, "data-tip").is_some_and(|text| text.starts_with("console")),
        "{:?}",
        attribute(&dom, "data-tip")
    );
}

#[test]
fn an_error_of_the_script_is_seen() {
    let page = place("broken.html");
    let html = sample().to_html().replace("const panels = ", "undeclared(); const panels = ");
    std::fs::write(&page, html).expect("the page can be written");
    let result = std::panic::catch_unwind(|| check(&chromium(&page, 1280, 900, "--dump-dom"), PANELS));
    assert!(result.is_err(), "a broken page passed");
}
