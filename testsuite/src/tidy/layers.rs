//! The layers of a crate: folders of its sources, in an order in which each imports only from those before it.
//!
//! Whatever a file takes from another layer it names by a path from the crate's root: `crate::later::Item`,
//! `super::super::later`, or `crate::Item` where the root re-exports it, which counts as the layer that it comes from.
//! So paths are read off the tokens, and need no compiler. Tests in a file may import from anywhere, as those of a
//! crate may. What this does not see are methods: an `impl` in a later layer of a type of an earlier one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::tokens::{Token, tokens};
use super::{Rule, Violation};

/// Crates that have layers: where their sources are, and the layers, the lowest first.
pub(super) const LAYERED: [(&str, &[&str]); 1] =
    [("core/src", &["dtype", "options", "error", "geometry", "storage", "tensor", "structured", "value", "dispatch"])];

type Tokens<'t> = [(usize, Token<'t>)];

/// Checks that the sources of a crate are `layers`, the lowest first, and that each imports only from those before it.
/// `files` are paths relative to the workspace and their texts; those that are not below `src` are nobody's business.
pub fn check_layers(src: &Path, layers: &[&str], files: &[(PathBuf, String)]) -> Vec<Violation> {
    let below = files.iter().filter_map(|(file, text)| Some((file, file.strip_prefix(src).ok()?, tokens(text))));
    let sources: Vec<_> = below.collect();
    let order = layers.join(" ← ");
    let (mut found, mut origins) = (Vec::new(), HashMap::new());
    let mut broken = |file: &Path, line, message| {
        found.push(Violation { file: file.to_path_buf(), line, rule: Rule::Layer, message });
    };
    for (file, inside, tokens) in &sources {
        if is_root(inside) {
            for (line, layer, name) in exports(tokens).filter(|(_, layer, _)| layers.contains(layer)) {
                if name == "*" {
                    broken(file, line, format!("re-exports all of the layer {layer}: name what is public"));
                }
                origins.insert(name, layer);
            }
        } else {
            let layer = layer_of(inside).filter(|layer| layers.contains(layer));
            match layer {
                Some(layer) => origins.extend(exported_macros(tokens).map(|name| (name, layer))),
                None => broken(file, 0, format!("is in no layer: move it to the folder of one of {order}")),
            }
        }
    }
    for (file, inside, tokens) in &sources {
        let rank = |layer: &str| layers.iter().position(|known| *known == layer);
        let Some((own, own_rank)) = layer_of(inside).and_then(|own| Some((own, rank(own)?))) else { continue };
        for (line, name) in root_paths(&without_tests(tokens), depth(inside)) {
            if matches!(name, "*" | "self") {
                broken(file, line, format!("the layer {own} imports the whole crate: name what it needs"));
                continue;
            }
            let theirs = origins.get(name).copied().unwrap_or(name);
            if rank(theirs).is_some_and(|theirs| theirs > own_rank) {
                let what = if theirs == name { String::new() } else { format!("{name} of ") };
                let message = format!("the layer {own} imports {what}the later layer {theirs}, but {order}");
                broken(file, line, message);
            }
        }
    }
    if !sources.is_empty() {
        let is_there = |layer: &&str| sources.iter().any(|(_, inside, _)| layer_of(inside) == Some(layer));
        for layer in layers.iter().filter(|layer| !is_there(layer)) {
            broken(src, 0, format!("has no layer {layer}, but {order}"));
        }
    }
    found
}

fn is_root(inside: &Path) -> bool {
    inside == Path::new("lib.rs")
}

/// The layer of a file: its folder, or its name at the crate's root.
fn layer_of(inside: &Path) -> Option<&str> {
    let first = inside.components().next()?.as_os_str().to_str()?;
    Some(first.strip_suffix(".rs").unwrap_or(first)).filter(|_| !is_root(inside))
}

/// How many modules a file is below the crate's root.
fn depth(inside: &Path) -> usize {
    inside.components().count() - usize::from(inside.ends_with("mod.rs"))
}

/// What a crate's root re-exports from its modules: line, module, name. A glob is `*`.
fn exports<'t>(tokens: &'t Tokens<'t>) -> impl Iterator<Item = (usize, &'t str, &'t str)> {
    let uses = (0..tokens.len()).filter(|&at| tokens[at].1 == Token::Name("use"));
    uses.flat_map(|at| {
        let end =
            tokens[at..].iter().position(|(_, token)| *token == Token::Sign(';')).map_or(tokens.len(), |n| at + n);
        let tree = &tokens[at + 1..end];
        let from_root = matches!(tree, [(_, Token::Name("crate" | "self")), (_, Token::Colons), ..]);
        let tree = if from_root { &tree[2..] } else { tree };
        let module = if let Some((_, Token::Name(module))) = tree.first() { module } else { "" };
        // The last name of each branch is what it is called here.
        let is_last = |k: usize| {
            let ends = matches!(tree.get(k + 1), None | Some((_, Token::Sign(',' | '}'))));
            ends.then_some(tree[k])
        };
        let last = (0..tree.len()).filter_map(is_last);
        last.filter_map(move |(line, token)| match token {
            Token::Name(name) => Some((line, module, name)),
            Token::Sign('*') => Some((line, module, "*")),
            _ => None,
        })
    })
}

/// The macros that a file exports, which puts them at the crate's root.
fn exported_macros<'t>(tokens: &'t Tokens<'t>) -> impl Iterator<Item = &'t str> {
    let mut is_exported = false;
    tokens.windows(3).filter_map(move |window| match window {
        [(_, Token::Name("macro_export")), ..] => {
            is_exported = true;
            None
        }
        [(_, Token::Name("macro_rules")), (_, Token::Sign('!')), (_, Token::Name(name))] => {
            std::mem::take(&mut is_exported).then_some(*name)
        }
        _ => None,
    })
}

/// Without the items that are compiled for tests only.
fn without_tests<'t>(tokens: &Tokens<'t>) -> Vec<(usize, Token<'t>)> {
    const CFG_TEST: [Token<'_>; 7] = [
        Token::Sign('#'),
        Token::Sign('['),
        Token::Name("cfg"),
        Token::Sign('('),
        Token::Name("test"),
        Token::Sign(')'),
        Token::Sign(']'),
    ];
    let (mut kept, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        if tokens[at..].iter().map(|(_, token)| token).take(CFG_TEST.len()).eq(&CFG_TEST) {
            at = end_of_item(tokens, at + CFG_TEST.len());
        } else {
            kept.push(*token);
            at += 1;
        }
    }
    kept
}

/// Behind the item that begins at `at`: its semicolon, or the brace that closes its body.
fn end_of_item(tokens: &Tokens<'_>, at: usize) -> usize {
    let is_use = tokens.get(at).is_some_and(|(_, token)| *token == Token::Name("use"));
    let mut open = 0;
    for (k, (_, token)) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Sign('{' | '(' | '[') => open += 1,
            Token::Sign('}' | ')' | ']') => open -= 1,
            _ => {}
        }
        let ends = matches!(token, Token::Sign(';')) || matches!(token, Token::Sign('}')) && !is_use;
        if open == 0 && ends {
            return k + 1;
        }
    }
    tokens.len()
}

/// The first names of all paths from the crate's root, with their lines; the file is `depth` modules below it.
fn root_paths<'t>(tokens: &Tokens<'t>, depth: usize) -> Vec<(usize, &'t str)> {
    let (mut found, mut braces, mut modules) = (Vec::new(), 0, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at..] {
            [(_, Token::Name("mod")), (_, Token::Name(_)), (_, Token::Sign('{')), ..] => modules.push(braces),
            [(_, Token::Sign('{')), ..] => braces += 1,
            [(_, Token::Sign('}')), ..] => {
                braces -= 1;
                modules.pop_if(|outside| *outside == braces);
            }
            [(_, Token::Name("crate")), (_, Token::Colons), ..] => found.extend(first_names(&tokens[at + 2..])),
            [(_, Token::Name("super")), (_, Token::Colons), ..] => {
                let mut ups = 0;
                while let [(_, Token::Name("super")), (_, Token::Colons), ..] = tokens[at + 2 * ups..] {
                    ups += 1;
                }
                if ups >= depth + modules.len() {
                    found.extend(first_names(&tokens[at + 2 * ups..]));
                }
                at += 2 * ups - 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The first name of each branch of a path: `a` of `a::b`, `a` and `c` of `{a::b, c}`. A glob is `*`.
fn first_names<'t>(tokens: &Tokens<'t>) -> Vec<(usize, &'t str)> {
    let name = |&(line, token): &(usize, Token<'t>)| match token {
        Token::Name(name) => Some((line, name)),
        Token::Sign('*') => Some((line, "*")),
        _ => None,
    };
    let Some((_, Token::Sign('{'))) = tokens.first() else {
        return tokens.first().and_then(name).into_iter().collect();
    };
    let (mut found, mut open) = (Vec::new(), 0);
    for pair in tokens.windows(2) {
        match pair[0].1 {
            Token::Sign('{') => open += 1,
            Token::Sign('}') => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
        if open == 1 && matches!(pair[0].1, Token::Sign('{' | ',')) {
            found.extend(name(&pair[1]));
        }
    }
    found
}
