//! Whether every public item of the core is shown at work by an example that is compiled and run. Which is enough,
//! [`RULE`] says, and docs/ARCHITECTURE.md, "Tests".

mod fences;
mod source;

use anyhow::{Result, bail};

use crate::command::root;
use source::{Item, Kind, Source};

const RULE: &str = "\
a function, a trait and a type with a constructor need an example of their own that names them;
a function or constant of a type or trait needs one of its own, or one on its type, that calls it or implements it;
any other type, an alias and a constant have to be named in some example of their file.
Lines that are hidden or comments show nothing, nor do fences that are not run: ignore, text, no_run.";

/// A part of `docs`.
pub(crate) fn check() -> Result<()> {
    let source = Source::read(&root().join("proto-core/src"))?;
    let lacking = lacking(&source);
    println!("  examples: {} public items of the core, {} without", source.items.len(), lacking.len());
    if lacking.is_empty() {
        return Ok(());
    }
    bail!("{}\n{RULE}", lacking.join("\n"))
}

/// One line for each item that no example shows.
fn lacking(source: &Source) -> Vec<String> {
    let lacks = |item: &&Item| !is_shown(item, source);
    let line = |item: &Item| {
        let (owner, wanted) = match &item.kind {
            Kind::Start => (None, "needs an example of its own"),
            Kind::Associated { owner, .. } => {
                (Some(owner), "is called in no example of its own or on its type")
            }
            Kind::Named => (None, "is named in no example of its file"),
        };
        let owner = owner.map(|owner| format!("{owner}::")).unwrap_or_default();
        format!("proto-core/src/{}: {owner}{} {wanted}", item.file, item.name)
    };
    source.items.iter().filter(lacks).map(line).collect()
}

fn is_shown(item: &Item, source: &Source) -> bool {
    match &item.kind {
        Kind::Start => source.examples_of(item).any(|example| fences::names(example, &item.name)),
        Kind::Named => source.examples_beside(item).any(|example| fences::names(example, &item.name)),
        Kind::Associated { method: true, .. } => {
            source.examples_of(item).any(|example| fences::calls(example, &item.name))
        }
        Kind::Associated { owner, method: false } => {
            source.examples_of(item).any(|example| fences::names_associated(example, owner, &item.name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacking_in(text: &str) -> String {
        lacking(&Source::of_file(text, std::path::Path::new("")).unwrap()).join("\n")
    }

    const TYPE: &str = "pub struct Lamp; impl Lamp { pub fn new() -> Self { Self } pub fn light(&self) {} }";

    #[test]
    fn an_item_without_an_example_is_listed_with_its_file() {
        let lacking = lacking_in(TYPE);
        for part in ["lib.rs: Lamp needs", "lib.rs: Lamp::new is called", "lib.rs: Lamp::light is called"] {
            assert!(lacking.contains(part), "{lacking}");
        }
    }

    #[test]
    fn a_types_example_shows_the_methods_that_it_calls_and_no_others() {
        let shown = format!("/// ```\n/// Lamp::new().light();\n/// ```\n{TYPE}");
        assert_eq!(lacking_in(&shown), "");
        let other = format!("/// ```\n/// Lamp::new().lights();\n/// ```\n{TYPE}");
        assert_eq!(
            lacking_in(&other),
            "proto-core/src/lib.rs: Lamp::light is called in no example of its own or on its type"
        );
    }

    #[test]
    fn what_is_hidden_commented_or_not_compiled_shows_nothing() {
        for hidden in ["# lamp();", "// lamp();"] {
            let text = format!("/// ```\n/// {hidden}\n/// ```\npub fn lamp() {{}}");
            assert!(lacking_in(&text).contains("lamp needs"), "{hidden}");
        }
        for fence in ["ignore", "text", "no_run"] {
            let text = format!("/// ```{fence}\n/// lamp();\n/// ```\npub fn lamp() {{}}");
            assert!(lacking_in(&text).contains("lamp needs"), "{fence}");
        }
    }

    #[test]
    fn a_free_function_needs_one_of_its_own_and_a_plain_type_only_its_name_in_another() {
        let text = "/// ```\n/// lamp();\n/// Fault { at: 1 };\n/// ```\npub fn lamp() {}\npub fn dark() {}\n\
                    pub struct Fault { pub at: u8 }\npub const LAMPS: u8 = 1;";
        let lacking = lacking_in(text);
        assert!(lacking.contains("dark needs") && lacking.contains("LAMPS is named in no"), "{lacking}");
        assert!(!lacking.contains("Fault") && !lacking.contains(": lamp "), "{lacking}");
    }

    #[test]
    fn what_is_not_public_needs_none() {
        for text in [
            "mod inner { pub fn deep() {} }",
            "pub(crate) fn near() {} fn own() {}",
            "#[cfg(test)] pub mod tests { pub fn of_tests() {} }",
            "#[doc(hidden)] pub fn ours() {}",
            "macro_rules! own { () => {} }",
        ] {
            assert_eq!(lacking_in(text), "", "{text}");
        }
    }

    #[test]
    fn what_is_public_by_any_way_needs_one() {
        for text in [
            "pub mod inner { pub fn deep() {} }",
            "mod inner { pub fn deep() {} } pub use inner::deep;",
            "mod inner { pub fn deep() {} } pub use inner::*;",
            "mod inner { pub fn deep() {} } pub mod other { pub use super::inner::{deep as shallow}; }",
            "#[macro_export] macro_rules! deep { () => {} }",
        ] {
            assert_eq!(lacking_in(text), "proto-core/src/lib.rs: deep needs an example of its own", "{text}");
        }
    }

    #[test]
    fn a_trait_is_shown_by_an_example_that_implements_it() {
        let lamp = "pub trait Lamp { const WATTS: u8; fn light(&self); }";
        assert_eq!(lacking_in(lamp).lines().count(), 3);
        let shown = "/// ```\n/// impl Lamp for Torch { fn light(&self) {} }\n/// Torch::WATTS;\n/// ```\n";
        assert_eq!(lacking_in(&format!("{shown}{lamp}")), "");
    }

    #[test]
    fn what_a_macro_makes_is_shown_by_an_example_inside_it() {
        let made =
            |doc: &str| format!("mod inner {{ made! {{ {doc} Colour {{ Red }} }} }} pub use inner::Colour;");
        assert!(lacking_in(&made("")).contains("Colour is named in no"));
        assert_eq!(lacking_in(&made("/// ```\n/// Colour::Red;\n/// ```\n")), "");
    }
}
