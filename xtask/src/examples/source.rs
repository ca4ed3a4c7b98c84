//! The public items of a package and the examples in its doc comments, from its source: rustdoc lists items for the
//! nightly compiler alone. Of what a macro makes, one name is seen: behind `pub`, or in front of its braces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Attribute, Expr, ImplItem, Item as Syntax, Lit, Meta, TraitItem, Type, UseTree, Visibility};

use super::fences;

/// What an item is to someone who reads about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One begins with it: a free function, a trait, a type with a constructor.
    Start,
    /// One gets it or fills it in: a fault, an enum, a struct of public fields, an alias, a constant.
    Named,
    /// A function or constant of a type or trait.
    Associated { owner: String, method: bool },
}

/// One public item.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// An example and the item whose doc comment holds it; a type's functions are documented under the type.
#[derive(Debug)]
struct Example {
    file: String,
    about: String,
    code: String,
}

/// All public items, and all examples on them.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) items: Vec<Item>,
    examples: Vec<Example>,
}

/// One module, inline or in a file of its own.
struct Module {
    file: String,
    name: String,
    /// Whether it and all around it are `pub`.
    is_open: bool,
    doc: String,
    items: Vec<Syntax>,
}

/// The names that `pub use` gives out, by the module that they are taken from; `*` for all.
type Uses = BTreeMap<String, BTreeSet<String>>;

impl Source {
    /// The package whose `lib.rs` is in `root`.
    pub(super) fn read(root: &Path) -> Result<Self> {
        Self::of_file(&fs::read_to_string(root.join("lib.rs"))?, root)
    }

    /// The same with `text` in the place of `lib.rs`.
    pub(super) fn of_file(text: &str, root: &Path) -> Result<Self> {
        let (file, name, items) = ("lib.rs".to_owned(), String::new(), syn::parse_file(text)?.items);
        let mut modules = Vec::new();
        collect(
            root,
            Path::new(""),
            Module { file, name, is_open: true, doc: String::new(), items },
            &mut modules,
        )?;
        let mut uses = Uses::new();
        let items = modules.iter().flat_map(|module| &module.items);
        items.for_each(|item| {
            if let Syntax::Use(item) = item
                && matches!(item.vis, Visibility::Public(_))
            {
                note_uses(&item.tree, "", &mut uses);
            }
        });
        let mut source = Self::default();
        for module in &modules {
            source.show(module, "", &module.doc);
            module.items.iter().for_each(|item| source.item(module, item, &uses));
        }
        // Only now it is known which types are public.
        modules.iter().for_each(|module| source.impls(module));
        Ok(source)
    }

    /// The examples on an item itself; of a function of a type, on the type and its functions.
    pub(super) fn examples_of(&self, item: &Item) -> impl Iterator<Item = &str> {
        let about = if let Kind::Associated { owner, .. } = &item.kind { owner } else { &item.name };
        // Types of one name are told apart by their files.
        let is_here = self.items.iter().any(|other| other.file == item.file && other.name == *about);
        let of = move |example: &&Example| example.about == *about && (example.file == item.file || !is_here);
        self.examples.iter().filter(of).map(|example| example.code.as_str())
    }

    /// The examples in the file of an item.
    pub(super) fn examples_beside(&self, item: &Item) -> impl Iterator<Item = &str> {
        let beside = |example: &&Example| example.file == item.file;
        self.examples.iter().filter(beside).map(|example| example.code.as_str())
    }

    fn item(&mut self, module: &Module, item: &Syntax, uses: &Uses) {
        let (visibility, name, attributes, kind) = match item {
            Syntax::Fn(item) => (&item.vis, &item.sig.ident, &item.attrs, Kind::Start),
            Syntax::Trait(item) => (&item.vis, &item.ident, &item.attrs, Kind::Start),
            Syntax::Struct(item) => (&item.vis, &item.ident, &item.attrs, Kind::Named),
            Syntax::Enum(item) => (&item.vis, &item.ident, &item.attrs, Kind::Named),
            Syntax::Type(item) => (&item.vis, &item.ident, &item.attrs, Kind::Named),
            Syntax::Const(item) => (&item.vis, &item.ident, &item.attrs, Kind::Named),
            Syntax::Static(item) => (&item.vis, &item.ident, &item.attrs, Kind::Named),
            Syntax::Macro(item) => return self.made(module, item, uses),
            _ => return,
        };
        let name = name.to_string();
        if !matches!(visibility, Visibility::Public(_)) || !is_given_out(module, &name, uses) {
            return;
        }
        self.add(module, name.clone(), kind, &name, attributes);
        if let Syntax::Trait(item) = item {
            for inner in &item.items {
                let (inner, attributes) = match inner {
                    TraitItem::Fn(item) => (&item.sig.ident, &item.attrs),
                    TraitItem::Const(item) => (&item.ident, &item.attrs),
                    _ => continue,
                };
                // A constant too is written behind whatever type has the trait.
                let kind = Kind::Associated { owner: name.clone(), method: true };
                self.add(module, inner.to_string(), kind, &name, attributes);
            }
        }
    }

    /// A macro that is given out, or the item that a macro of the package makes.
    fn made(&mut self, module: &Module, item: &syn::ItemMacro, uses: &Uses) {
        if let Some(name) = item.ident.as_ref().map(ToString::to_string) {
            if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
                self.add(module, name.clone(), Kind::Start, &name, &item.attrs);
            }
            return;
        }
        let mut name = None;
        let tokens: Vec<TokenTree> = item.mac.tokens.clone().into_iter().collect();
        for pair in tokens.windows(2) {
            match pair {
                [TokenTree::Ident(word), TokenTree::Ident(ident)] if word == "pub" => {
                    name = name.or(Some(ident.to_string()));
                }
                [TokenTree::Ident(ident), TokenTree::Group(group)]
                    if group.delimiter() == Delimiter::Brace =>
                {
                    name = name.or(Some(ident.to_string()));
                }
                _ => {}
            }
        }
        if let Some(name) = name.filter(|name| is_given_out(module, name, uses)) {
            self.show(module, &name, &doc_in_tokens(item.mac.tokens.clone()));
            self.items.push(Item { file: module.file.clone(), name, kind: Kind::Named });
        }
    }

    fn impls(&mut self, module: &Module) {
        for item in &module.items {
            let Syntax::Impl(block) = item else { continue };
            let Type::Path(path) = &*block.self_ty else { continue };
            let owner = path.path.segments.last().map(|segment| segment.ident.to_string());
            let is_public = |owner: &String| self.items.iter().any(|item| item.name == *owner);
            let Some(owner) = owner.filter(|owner| block.trait_.is_none() && is_public(owner)) else {
                continue;
            };
            for inner in &block.items {
                let (visibility, name, attributes, method) = match inner {
                    ImplItem::Fn(of) => (&of.vis, &of.sig.ident, &of.attrs, of.sig.receiver().is_some()),
                    ImplItem::Const(of) => (&of.vis, &of.ident, &of.attrs, false),
                    _ => continue,
                };
                if !matches!(visibility, Visibility::Public(_)) {
                    continue;
                }
                if matches!(inner, ImplItem::Fn(_)) && !method {
                    let types = self.items.iter_mut().filter(|item| item.file == module.file);
                    let types = types.filter(|item| item.name == owner && item.kind == Kind::Named);
                    types.for_each(|item| item.kind = Kind::Start);
                }
                let kind = Kind::Associated { owner: owner.clone(), method };
                self.add(module, name.to_string(), kind, &owner, attributes);
            }
        }
    }

    fn add(&mut self, module: &Module, name: String, kind: Kind, about: &str, attributes: &[Attribute]) {
        self.show(module, about, &doc(attributes));
        if !says(attributes, "doc", "hidden") {
            self.items.push(Item { file: module.file.clone(), name, kind });
        }
    }

    fn show(&mut self, module: &Module, about: &str, doc: &str) {
        let example = |code| Example { file: module.file.clone(), about: about.to_owned(), code };
        self.examples.extend(fences::examples(doc).into_iter().map(example));
    }
}

/// `module` and those inside it, whose files are in `folder` of `root`.
fn collect(root: &Path, folder: &Path, module: Module, modules: &mut Vec<Module>) -> Result<()> {
    for item in &module.items {
        let Syntax::Mod(inner) = item else { continue };
        if says(&inner.attrs, "cfg", "test") {
            continue;
        }
        let name = inner.ident.to_string();
        let is_open = module.is_open && matches!(inner.vis, Visibility::Public(_));
        let below = folder.join(&name);
        let inside = if let Some((_, items)) = &inner.content {
            let (file, items) = (module.file.clone(), items.clone());
            Module { file, name, is_open, doc: doc(&inner.attrs), items }
        } else {
            let own = [below.join("mod.rs"), below.with_extension("rs")];
            let file = own.into_iter().find(|file| root.join(file).exists());
            let file = file.with_context(|| format!("no file of module {}", below.display()))?;
            let syntax = syn::parse_file(&fs::read_to_string(root.join(&file))?)
                .with_context(|| format!("cannot parse {}", file.display()))?;
            Module {
                file: file.display().to_string(),
                name,
                is_open,
                doc: doc(&syntax.attrs),
                items: syntax.items,
            }
        };
        collect(root, &below, inside, modules)?;
    }
    modules.push(module);
    Ok(())
}

fn is_given_out(module: &Module, name: &str, uses: &Uses) -> bool {
    let used = uses.get(&module.name);
    module.is_open || used.is_some_and(|names| names.contains(name) || names.contains("*"))
}

fn note_uses(tree: &UseTree, from: &str, uses: &mut Uses) {
    let mut note = |name: String| _ = uses.entry(from.to_owned()).or_default().insert(name);
    match tree {
        UseTree::Path(path) => note_uses(&path.tree, &path.ident.to_string(), uses),
        UseTree::Name(name) => note(name.ident.to_string()),
        UseTree::Rename(name) => note(name.ident.to_string()),
        UseTree::Glob(_) => note("*".to_owned()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| note_uses(tree, from, uses)),
    }
}

/// Whether there is `#[attribute(word)]`.
fn says(attributes: &[Attribute], attribute: &str, word: &str) -> bool {
    attributes.iter().any(|found| {
        matches!(&found.meta, Meta::List(list) if list.path.is_ident(attribute) && list.tokens.to_string() == word)
    })
}

/// The doc comment, line by line.
fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(value) => Some(value.lit.clone()),
            _ => None,
        },
        _ => None,
    });
    lines.filter_map(text_of).collect()
}

/// The doc comments among the words of a macro's call.
fn doc_in_tokens(tokens: TokenStream) -> String {
    let lines = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(doc_in_tokens(group.stream())),
        TokenTree::Literal(literal) => text_of(Lit::new(literal)),
        TokenTree::Ident(_) | TokenTree::Punct(_) => None,
    });
    lines.collect()
}

fn text_of(literal: Lit) -> Option<String> {
    if let Lit::Str(line) = literal { Some(format!("{}\n", line.value())) } else { None }
}
