//! Finds the paragraphs of a text that answer a question: `search minilm.pt2 README.md "how fast is it?"`.
#![forbid(unsafe_code)]

use monomorph_models::Error;
use monomorph_models::search::{Embedder, paragraphs, similarity};
use std::path::Path;

/// Paragraphs that are printed.
const SHOWN: usize = 3;

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, text, question] = &args[..] else {
        return Err("usage: search minilm.pt2 TEXT.md \"a question\"".into());
    };
    let mut embedder = Embedder::load(Path::new(model))?;
    let paragraphs = paragraphs(&std::fs::read_to_string(text)?);
    let texts: Vec<&str> = std::iter::once(&**question).chain(paragraphs.iter().map(String::as_str)).collect();
    let vectors = embedder.embed(&texts)?;
    let (question, vectors) = vectors.split_first().ok_or("there is no text")?;
    let mut found: Vec<(f32, &String)> =
        vectors.iter().map(|vector| similarity(question, vector)).zip(&paragraphs).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (similarity, paragraph) in found.iter().take(SHOWN) {
        println!("{similarity:.3}  {paragraph}");
    }
    Ok(())
}
