//! Reads constant files: names of attacks, one a line, or a number.

use cofferdam::Info;

/// The lines of the file `order`.
pub fn lines(info: Info) -> Option<impl Iterator<Item = &'static str> + Clone> {
    text(info, "order")
}

/// The number in a file.
pub fn number(info: Info, file: &str) -> Option<u32> {
    numbers(info, file)?.next()
}

/// The numbers in a file, one a line.
pub fn numbers(info: Info, file: &str) -> Option<impl Iterator<Item = u32>> {
    Some(text(info, file)?.map_while(|line| line.parse().ok()))
}

fn text(info: Info, file: &str) -> Option<impl Iterator<Item = &'static str> + Clone> {
    let area = info.area(file)?;
    // SAFETY: the area is constant memory of this domain.
    let bytes = unsafe { core::slice::from_raw_parts(area.base as *const u8, area.bytes as usize) };
    let is_text = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~');
    let end = bytes.iter().position(|byte| !is_text(byte)).unwrap_or(bytes.len());
    let text = core::str::from_utf8(&bytes[..end]).ok()?;
    Some(text.lines().filter(|line| !line.is_empty()))
}
