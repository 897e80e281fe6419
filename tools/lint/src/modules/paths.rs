//! The items that a file defines and the paths that it names.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemUse, Path, UseTree, Visibility};

/// The items and paths of one module.
#[derive(Default)]
pub struct Contents {
    defined: BTreeSet<String>,
    /// Names that a `use` brings in, with their paths.
    names: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Paths that count as imports: of private `use`s and of code.
    imported: Vec<Vec<String>>,
}

impl Contents {
    /// Whether the module itself has an item of this name.
    pub fn defines(&self, item: &str) -> bool {
        self.defined.contains(item)
    }

    /// The path behind a name that a `use` brings in.
    pub fn named(&self, name: &str) -> Option<&[String]> {
        self.names.get(name).map(Vec::as_slice)
    }

    /// The modules whose items are all brought in.
    pub fn globs(&self) -> impl Iterator<Item = &[String]> {
        self.globs.iter().map(Vec::as_slice)
    }

    /// Every path that counts as an import.
    pub fn imported(&self) -> impl Iterator<Item = &[String]> {
        self.imported.iter().map(Vec::as_slice)
    }
}

/// Reads a file.
///
/// # Errors
/// The parser's text, when the file is not Rust.
pub fn contents(text: &str) -> Result<Contents, String> {
    let file: File = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut contents = Contents::default();
    contents.visit_file(&file);
    Ok(contents)
}

impl<'ast> Visit<'ast> for Contents {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = parts(item);
        if !attributes.iter().any(is_test) {
            self.defined.extend(name);
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !function.attrs.iter().any(is_test) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut leaves = Vec::new();
        expand(&item.tree, &mut Vec::new(), &mut leaves);
        let hands_on = !matches!(item.vis, Visibility::Inherited);
        for (name, path) in leaves {
            match name {
                Some(name) if name != "_" => {
                    self.names.insert(name, path.clone());
                }
                Some(_) => (),
                None => self.globs.push(path.clone()),
            }
            if !hands_on {
                self.imported.push(path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            self.imported.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    /// Arguments of macros are tokens: names joined by `::` are paths.
    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.visit_tokens(called.tokens.clone());
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        self.visit_macro(&item.mac);
    }
}

impl Contents {
    fn visit_tokens(&mut self, tokens: proc_macro2::TokenStream) {
        use proc_macro2::TokenTree::{Group, Ident, Punct};
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match &token {
                Punct(mark) if mark.as_char() == ':' && !path.is_empty() => colons += 1,
                Ident(name) if colons == 2 => {
                    path.push(name.to_string());
                    colons = 0;
                }
                _ => {
                    self.imported.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    colons = 0;
                    match token {
                        Ident(name) => path.push(name.to_string()),
                        Group(group) => self.visit_tokens(group.stream()),
                        _ => (),
                    }
                }
            }
        }
        self.imported.extend((!path.is_empty()).then_some(path));
    }
}

/// The names that a `use` brings in with their paths; no name for a glob.
fn expand(tree: &UseTree, before: &mut Vec<String>, out: &mut Vec<(Option<String>, Vec<String>)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            expand(&path.tree, before, out);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| expand(tree, before, out)),
        UseTree::Glob(_) => out.push((None, before.clone())),
        UseTree::Name(name) => {
            let mut path = before.clone();
            if name.ident != "self" {
                path.push(name.ident.to_string());
            }
            out.push((path.last().cloned(), path));
        }
        UseTree::Rename(renamed) => {
            let mut path = before.clone();
            if renamed.ident != "self" {
                path.push(renamed.ident.to_string());
            }
            out.push((Some(renamed.rename.to_string()), path));
        }
    }
}

/// The attributes of an item and its name.
fn parts(item: &Item) -> (&[Attribute], Option<String>) {
    macro_rules! named {
        ($($kind:ident),*) => {
            match item {
                $(Item::$kind(item) => (&item.attrs, Some(item.ident.to_string())),)*
                Item::Fn(item) => (&item.attrs, Some(item.sig.ident.to_string())),
                Item::Macro(item) => (&item.attrs, item.ident.as_ref().map(ToString::to_string)),
                Item::Impl(item) => (&item.attrs, None),
                Item::Use(item) => (&item.attrs, None),
                Item::ForeignMod(item) => (&item.attrs, None),
                _ => (&[], None),
            }
        };
    }
    named!(Const, Enum, Static, Struct, Trait, TraitAlias, Type, Union)
}

/// `#[cfg(test)]`, alone or in `all` or `any`, but not in `not`.
fn is_test(attribute: &Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let text = list.tokens.to_string();
    list.path.is_ident("cfg")
        && text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
        && !text.contains("not")
}
