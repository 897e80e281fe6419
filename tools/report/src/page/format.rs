//! Figures as people read them.

/// Digits in groups of three, with narrow no-break spaces.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// Bytes in the largest unit that keeps three digits.
pub fn bytes(value: u64) -> String {
    const UNITS: [(u64, &str); 2] = [(1 << 20, "MiB"), (1 << 10, "KiB")];
    for (size, unit) in UNITS {
        if value >= size {
            return format!("{}\u{a0}{unit}", short(value as f64 / size as f64));
        }
    }
    format!("{value}\u{a0}B")
}

/// Seconds in the unit that suits them.
pub fn seconds(value: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let magnitude = value.abs();
    for (size, unit) in UNITS {
        if magnitude >= size {
            return format!("{}\u{a0}{unit}", short(value / size));
        }
    }
    if value == 0.0 { "0\u{a0}µs".to_owned() } else { format!("{}\u{a0}µs", short(value * 1e6)) }
}

/// Three significant digits, without zeros at the end.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    let places = match magnitude {
        _ if magnitude >= 99.95 => 0,
        _ if magnitude >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A share of 1 as a percentage.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 0.01 { "< 0.01\u{a0}%".to_owned() } else { format!("{}\u{a0}%", short(value)) }
}

/// An address.
pub fn address(value: u64) -> String {
    format!("0x{:04x}_{:04x}", value >> 16, value & 0xffff)
}

/// A position on a scale from 0 to `whole`, in percent, for CSS.
pub fn position(value: f64, whole: f64) -> String {
    if whole <= 0.0 { "0%".to_owned() } else { format!("{:.3}%", (value / whole * 100.0).clamp(0.0, 100.0)) }
}

/// A text in HTML, with what stands between backticks as code.
pub fn code(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let parts = escaped.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}
