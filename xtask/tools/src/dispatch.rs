//! `cargo xtask dispatch`: which kernel of an operator serves which key, and why. Owns the printing, not the rules.

use monomorph::crates::core::dispatch::{Backend, DispatchKey, RegistrationKey, Resolution, Source};
use monomorph::dispatcher;
use std::io::Write;

/// `cargo xtask dispatch NAME [--with KEYS]`: the computed table; with keys, the table as it would be if the operator
/// had kernels for just these.
pub(crate) fn print(args: &[String]) -> Result<bool, String> {
    let (name, keys) = match args {
        [name] => (name, None),
        [name, flag, keys] if flag == "--with" => (name, Some(keys.as_str())),
        _ => return Err("dispatch takes the name of an operator, and --with KEY,KEY,..".to_owned()),
    };
    // Whoever reads the first lines only closes the pipe.
    let _ = writeln!(std::io::stdout(), "{}", text(name, keys)?);
    Ok(true)
}

fn text(name: &str, keys: Option<&str>) -> Result<String, String> {
    let text = |error: monomorph::Error| error.to_string();
    let handle = dispatcher().find(name).map_err(text)?;
    let schema = handle.schema().map_err(text)?;
    let mut names = Names::default();
    let lines: Vec<(DispatchKey, Resolution, &str)> = match keys {
        None => handle.explain().into_iter().map(|(key, r, kernel)| (key, r, kernel.unwrap_or(""))).collect(),
        Some(keys) => {
            let keys: Vec<RegistrationKey> = keys.split(',').map(|key| names.key(key)).collect::<Result<_, _>>()?;
            handle.explain_with(&keys).into_iter().map(|(key, r)| (key, r, "")).collect()
        }
    };
    let mut out = format!("{schema}\n");
    for (key, resolution, kernel) in lines.into_iter().filter(|(_, r, _)| shown(r)) {
        let separator = if kernel.is_empty() { "" } else { "; " };
        let line = format!("\n  {:<18} {resolution}{separator}{kernel}", names.renamed(key.to_string()));
        out.push_str(&names.renamed(line));
    }
    Ok(out)
}

/// Most slots have nothing to do and say so.
fn shown(resolution: &Resolution) -> bool {
    resolution.source != Source::Fallthrough
}

/// Backends that exist only in the question: each name that is no key gets a private one.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn key(&mut self, name: &str) -> Result<RegistrationKey, String> {
        let name = name.trim();
        if let Ok(key) = dispatcher().key(name) {
            return Ok(key);
        }
        let known = self.0.iter().position(|other| other == name);
        let n = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        let backend = u8::try_from(n).ok().and_then(Backend::private);
        let limit = || format!("{name}: there is room for {} devices of other crates", Backend::PRIVATE);
        backend.map(RegistrationKey::from).ok_or_else(limit)
    }

    /// The text with these names in place of those of private backends.
    fn renamed(&self, text: String) -> String {
        let backends = (0..).map_while(Backend::private);
        self.0.iter().zip(backends).fold(text, |text, (name, backend)| text.replace(backend.name(), name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_computed_table_and_a_hypothetical_one() {
        let table = text("add.Tensor", None).expect("in the table");
        assert!(table.starts_with("add.Tensor(Tensor self"), "{table}");
        assert!(table.contains("\n  Cpu ") && table.contains("\n  Meta ") && table.contains("missing"), "{table}");
        let supposed = text("add.Tensor", Some("Cpu,Mine,CompositeImplicit")).expect("keys");
        let line = |key: &str| {
            supposed.lines().find(|l| l.trim_start().starts_with(&format!("{key} "))).expect(key).to_owned()
        };
        assert!(line("Mine").contains("kernel of Mine: registered for this key"), "{supposed}");
        assert!(line("Meta").contains("kernel of CompositeImplicit"), "{supposed}");
        assert!(line("AutogradMeta").contains("CompositeImplicit"), "{supposed}");
        assert!(!supposed.contains("AutogradMine"), "the backend has a kernel of its own: {supposed}");
        assert!(text("add.Tensr", None).unwrap_err().contains("add.Tensor"));
        assert!(text("add.Tensor", Some("A,B,C,D,E,F")).unwrap_err().contains("room for 5"));
    }
}
