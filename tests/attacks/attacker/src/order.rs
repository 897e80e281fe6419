//! The order file: names of attacks, one a line.

use cofferdam::Info;

/// The lines of the file `order`.
pub fn lines(info: Info) -> Option<impl Iterator<Item = &'static str> + Clone> {
    let area = info.area("order")?;
    // SAFETY: the area is constant memory of this domain.
    let bytes = unsafe { core::slice::from_raw_parts(area.base as *const u8, area.bytes as usize) };
    let is_text = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~');
    let end = bytes.iter().position(|byte| !is_text(byte)).unwrap_or(bytes.len());
    let text = core::str::from_utf8(&bytes[..end]).ok()?;
    Some(text.lines().filter(|line| !line.is_empty()))
}
