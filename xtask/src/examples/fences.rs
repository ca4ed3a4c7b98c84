//! Examples in doc comments, and what stands in them.

/// The code of each example that is compiled and run, without the lines that a reader does not see.
pub(super) fn examples(doc: &str) -> Vec<String> {
    let mut examples = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in doc.lines() {
        let text = line.trim();
        match (&mut open, text.strip_prefix("```")) {
            (None, Some(info)) => open = Some((matches!(info, "" | "rust"), String::new())),
            (Some(_), Some(_)) => {
                if let Some((true, code)) = open.take() {
                    examples.push(code);
                }
            }
            (Some((_, code)), None) if !is_hidden(text) => {
                code.push_str(line);
                code.push('\n');
            }
            _ => {}
        }
    }
    examples
}

fn is_hidden(line: &str) -> bool {
    line == "#" || line.starts_with("# ") || line.starts_with("//")
}

/// Whether `name` stands in the code as a word.
pub(super) fn names(code: &str, name: &str) -> bool {
    words(code, name).next().is_some()
}

/// Whether a method `name` is called, handed over by its path, or written for a trait.
pub(super) fn calls(code: &str, name: &str) -> bool {
    words(code, name).any(|(before, after)| {
        before.ends_with("::")
            || before.ends_with("fn ")
            || before.ends_with('.') && (after.starts_with('(') || after.starts_with("::<"))
    })
}

/// Whether `owner::name` stands in the code, with parameters of the owner or without.
pub(super) fn names_associated(code: &str, owner: &str, name: &str) -> bool {
    words(code, name).any(|(before, _)| {
        let Some(path) = before.strip_suffix("::") else { return false };
        let plain = path.strip_suffix('>').and_then(|path| path.rfind("::<")).and_then(|end| path.get(..end));
        let front = plain.unwrap_or(path).strip_suffix(owner);
        front.is_some_and(|front| !front.ends_with(is_word))
    })
}

/// What stands before and after each place where `name` is a whole word.
fn words<'a>(code: &'a str, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code.match_indices(name).filter_map(move |(at, found)| {
        let (before, after) = (code.get(..at)?, code.get(at + found.len()..)?);
        (!before.ends_with(is_word) && !after.starts_with(is_word)).then_some((before, after))
    })
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
