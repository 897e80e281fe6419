//! The word that somebody may have meant.

/// The most letters in which a word may differ from the one that was meant.
const APART: usize = 3;

/// The known word that is nearest to a misspelt one, if it is near.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let apart = known.filter(|known| !known.is_empty()).map(|known| (strsim::damerau_levenshtein(word, known), known));
    let near = |(apart, known): &(usize, &str)| *apart <= APART && *apart < known.chars().count().max(2);
    apart.min_by_key(|(apart, _)| *apart).filter(near).map(|(_, known)| known)
}

/// Remedy for a name of which there is none: `otherwise`, or take the nearest.
pub(crate) fn correct<'k>(word: &str, known: impl Iterator<Item = &'k str>, otherwise: String) -> String {
    nearest(word, known).map_or(otherwise, |best| format!("did you mean `{best}`?"))
}
