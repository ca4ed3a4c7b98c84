//! Cutting a text as a typing model would send it.

/// Characters after which a piece ends even without white space: scripts without spaces are typed too.
const PIECE_CHARS_MAX: usize = 12;

/// Pieces that give `text` when put together: each ends behind a run of white space, or after twelve characters.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut chars, mut in_space) = (0, 0, false);
    for (at, character) in text.char_indices() {
        let is_space = character.is_whitespace();
        if at > start && ((in_space && !is_space) || chars >= PIECE_CHARS_MAX) {
            pieces.push(text.get(start..at).unwrap_or_default());
            (start, chars) = (at, 0);
        }
        in_space = is_space;
        chars += 1;
    }
    if start < text.len() {
        pieces.push(text.get(start..).unwrap_or_default());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_behind_white_space() {
        assert_eq!(words("Grüße an  alle.\nEnde"), ["Grüße ", "an  ", "alle.\n", "Ende"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn a_text_without_spaces_is_cut_between_characters() {
        let text = "北京の天気を調べてから、結果を表にまとめます。";
        let pieces = words(text);
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.chars().count() <= PIECE_CHARS_MAX));
        assert_eq!(pieces.concat(), text);
    }
}
