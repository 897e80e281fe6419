//! The figure: admitted systems against utilisation, a panel for each choice of periods.

use std::fmt::Write as _;

use crate::Curve;

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 34.0;
const COLOURS: [&str; 8] = ["#1b4f9c", "#222222", "#7aa6da", "#c2571a", "#2e8b57", "#9966aa", "#aa8833", "#bb4466"];

/// All panels side by side, with one legend.
pub(crate) fn figure(panels: &[(String, Vec<Curve>)]) -> String {
    let width = panels.len() as f64 * (WIDTH + LEFT) + 20.0;
    let rows = panels.first().map_or(0, |(_, curves)| curves.len()).div_ceil(4);
    let height = TOP + HEIGHT + 52.0 + rows as f64 * 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, (title, curves)) in panels.iter().enumerate() {
        panel(&mut svg, LEFT + number as f64 * (WIDTH + LEFT), title, curves);
    }
    if let Some((_, curves)) = panels.first() {
        legend(&mut svg, curves, TOP + HEIGHT + 52.0);
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, left: f64, title: &str, curves: &[Curve]) {
    let x = |percent: f64| left + (percent - 20.0) / 80.0 * WIDTH;
    let y = |ratio: f64| TOP + (1.0 - ratio) * HEIGHT;
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{title}</text>", TOP - 12.0);
    for percent in (20..=100).step_by(20) {
        let at = x(f64::from(percent));
        let _ = writeln!(svg, "<path d=\"M{at} {TOP}V{}\" stroke=\"#ddd\"/>", TOP + HEIGHT);
        let _ =
            writeln!(svg, "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{percent} %</text>", TOP + HEIGHT + 15.0);
    }
    for ratio in [0.0, 0.5, 1.0] {
        let _ = writeln!(svg, "<path d=\"M{left} {}H{}\" stroke=\"#ddd\"/>", y(ratio), left + WIDTH);
        let label = ratio * 100.0;
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>", left - 5.0, y(ratio) + 4.0);
    }
    let middle = left + WIDTH / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">processor used by the threads; percent of systems admitted</text>",
        TOP + HEIGHT + 32.0
    );
    for (number, curve) in curves.iter().enumerate().rev() {
        let points: Vec<String> = curve.points.iter().map(|(u, r)| format!("{:.1},{:.1}", x(*u), y(*r))).collect();
        let wide = if number < 2 { 2.2 } else { 1.0 };
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{wide}\" points=\"{}\"/>",
            COLOURS[number % COLOURS.len()],
            points.join(" ")
        );
    }
}

fn legend(svg: &mut String, curves: &[Curve], top: f64) {
    for (number, curve) in curves.iter().enumerate() {
        let (x, y) = (LEFT + (number % 4) as f64 * 250.0, top + (number / 4) as f64 * 16.0);
        let colour = COLOURS[number % COLOURS.len()];
        let _ = writeln!(svg, "<path d=\"M{x} {}h22\" stroke=\"{colour}\" stroke-width=\"2\"/>", y - 4.0);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{y}\">{}</text>", x + 28.0, curve.name);
    }
}
