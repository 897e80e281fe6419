//! Colours of the page: WCAG 2.1, level AA. Text has a contrast of 4.5 to what it stands on, a drawing one of 3.

use std::collections::BTreeMap;

const CSS: &str = include_str!("../../templates/page.css");
const TEXT: f64 = 4.5;
const DRAWN: f64 = 3.0;

type Rgb = [f64; 3];

/// The custom properties of a block of the style sheet, as colours.
fn colors(block: &str) -> BTreeMap<&str, Rgb> {
    let pairs = block.split(';').filter_map(|item| item.trim().strip_prefix("--")?.split_once(": #"));
    let channel = |hex: &str, at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour"));
    pairs.map(|(name, hex)| (name, [0, 2, 4].map(|at| channel(hex.trim(), at)))).collect()
}

/// The colours of light and dark.
fn schemes() -> [BTreeMap<&'static str, Rgb>; 2] {
    let mut blocks = CSS.split(":root {").skip(1).map(|rest| rest.split('}').next().expect("an end"));
    [(); 2].map(|()| colors(blocks.next().expect("a block for each scheme")))
}

fn luminance(color: Rgb) -> f64 {
    let linear = |channel: f64| {
        let share = channel / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    let [red, green, blue] = color.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// As `color-mix(in srgb, over SHARE, under)`.
fn mixed(over: Rgb, share: f64, under: Rgb) -> Rgb {
    std::array::from_fn(|index| over[index] * share + under[index] * (1.0 - share))
}

#[test]
fn contrast_is_computed_as_defined() {
    assert!((contrast([0.0; 3], [255.0; 3]) - 21.0).abs() < 1e-9);
    // #777 on white is the usual example of what just fails.
    assert!((contrast([119.0; 3], [255.0; 3]) - 4.478).abs() < 1e-3);
}

#[test]
fn everything_can_be_told_from_what_it_stands_on() {
    let mut wrong = Vec::new();
    for (scheme, colors) in ["light", "dark"].into_iter().zip(schemes()) {
        let mut hold = |what: String, a: Rgb, b: Rgb, least: f64| {
            let seen = contrast(a, b);
            if seen < least {
                wrong.push(format!("{scheme}: {what} has {seen:.2}, least {least}"));
            }
        };
        for ground in ["card", "page"] {
            for text in ["ink", "soft", "faint", "good", "bad", "amber", "accent", "chip", "ways", "tcm"] {
                hold(format!("{text} on {ground}"), colors[text], colors[ground], TEXT);
            }
        }
        for text in ["ink", "soft", "bad", "accent"] {
            hold(format!("{text} on bad-soft"), colors[text], colors["bad-soft"], TEXT);
        }
        hold("page on ink".into(), colors["page"], colors["ink"], TEXT);
        hold("card on accent".into(), colors["card"], colors["accent"], TEXT);
        for lane in (0..10).map(|index| format!("p{index}")).chain(["pk".to_owned()]) {
            let color = colors[lane.as_str()];
            hold(format!("{lane} on card"), color, colors["card"], DRAWN);
            hold(format!("{lane} on track"), color, colors["track"], DRAWN);
            // Blocks of the memory map.
            for text in ["ink", "soft"] {
                hold(format!("{text} on a block of {lane}"), colors[text], mixed(color, 0.22, colors["card"]), TEXT);
            }
        }
        for way in ["good", "tcm", "chip", "ways", "amber", "faint"] {
            hold(format!("the badge of {way}"), colors[way], mixed(colors[way], 0.13, colors["card"]), TEXT);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
