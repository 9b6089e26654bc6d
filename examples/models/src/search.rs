//! Sentences as vectors: MiniLM-L6, whose vectors of sentences that say the same are close.

use crate::Error;
use monomorph::prelude::*;
use monomorph::program::{Program, Session, Value};
use std::path::Path;
use tokenizers::{PaddingParams, Tokenizer, TruncationParams};

/// The most tokens of a text; what is behind them is left out.
const TOKENS: usize = 256;

/// Sentences that are embedded together.
const BATCH: usize = 8;

/// The model with its tokenizer.
pub struct Embedder {
    session: Session,
    tokenizer: Tokenizer,
}

impl Embedder {
    /// The model `minilm.pt2`, and the `tokenizer.json` beside it.
    ///
    /// # Errors
    /// Those of [`Program::load`] and of the tokenizer.
    pub fn load(model: &Path) -> Result<Embedder, Error> {
        let mut tokenizer = Tokenizer::from_file(model.with_file_name("tokenizer.json"))?;
        let truncation = TruncationParams { max_length: TOKENS, ..TruncationParams::default() };
        tokenizer.with_padding(Some(PaddingParams::default())).with_truncation(Some(truncation))?;
        Ok(Embedder { session: Program::load(model)?.session()?, tokenizer })
    }

    /// A vector of length 1 for each text.
    ///
    /// # Errors
    /// Those of the tokenizer and of a run.
    pub fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let mut vectors = Vec::with_capacity(texts.len());
        for texts in texts.chunks(BATCH) {
            let encoded = self.tokenizer.encode_batch(texts.to_vec(), true)?;
            let tokens = encoded.first().map_or(0, |one| one.get_ids().len());
            let input = |numbers: &dyn Fn(&tokenizers::Encoding) -> Vec<u32>| -> Result<Value, Error> {
                let numbers: Vec<i64> = encoded.iter().flat_map(numbers).map(i64::from).collect();
                Ok(Tensor::from_vec(numbers, (texts.len() as i64, tokens as i64))?.into())
            };
            let inputs = [input(&|one| one.get_ids().to_vec())?, input(&|one| one.get_attention_mask().to_vec())?];
            let outputs = self.session.run(&inputs)?;
            let output = outputs.first().and_then(Value::as_tensor).ok_or("the model gives no tensor")?;
            let width = output.sizes().last().copied().unwrap_or(0).max(1) as usize;
            vectors.extend(output.to_vec::<f32>()?.chunks(width).map(<[f32]>::to_vec));
        }
        Ok(vectors)
    }
}

/// The cosine of the angle between vectors of length 1.
pub fn similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The paragraphs of a text that are sentences: no tables, headings or code.
pub fn paragraphs(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut all = vec![String::new()];
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let is_text = !is_code && !line.is_empty() && !line.starts_with(['#', '|', '`', '<', '>', '!', '[']);
        match (is_text, all.last_mut()) {
            (true, Some(last)) => {
                last.push_str(line.trim());
                last.push(' ');
            }
            _ => all.push(String::new()),
        }
    }
    all.retain(|paragraph| paragraph.len() > 40);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_sentences() {
        let text = "# Head\n\nThe first paragraph goes on\nfor two lines, and is kept.\n\n| a | table |\n\n```\n\
            let code = \"that nobody wants to read as a sentence\";\n```\nshort\n";
        assert_eq!(paragraphs(text), ["The first paragraph goes on for two lines, and is kept. "]);
    }

    #[test]
    fn similarity_is_the_cosine() {
        assert!((similarity(&[0.6, 0.8], &[0.8, 0.6]) - 0.96).abs() < 1e-6);
    }
}
