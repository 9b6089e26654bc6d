//! Archives with random changes: reading one is an `Err` or a program that can be shown, never a panic.
//!
//! `MONOMORPH_FUZZ_PROGRAMS=N` makes N archives of each kind, in place of a few thousand.

use super::archive::{Entries, bytes};
use monomorph::program::Program;
use serde_json::{Value as Json, json};
use zip::CompressionMethod;

/// Xorshift: the same changes in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn count() -> usize {
    let asked = std::env::var("MONOMORPH_FUZZ_PROGRAMS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(if cfg!(debug_assertions) { 3500 } else { 20_000 })
}

const ARCHIVES: [&str; 6] = ["tied.pt2", "counter.core.pt2", "dynamic.pt2", "loop.pt2", "checked.pt2", "scopes.pt2"];

fn read(archive: Vec<u8>) -> bool {
    match Program::from_bytes(archive) {
        Ok(program) => {
            assert!(!program.to_string().is_empty());
            true
        }
        Err(error) => {
            assert!(error.to_string().len() < 100_000);
            false
        }
    }
}

#[test]
fn changed_bytes_of_archives() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let archives = ARCHIVES.map(bytes);
    for _ in 0..count() {
        let mut archive = archives[random.below(archives.len())].clone();
        for _ in 0..=random.below(4) {
            // Half of them in the directory at the end, which says where everything lies.
            let from = if random.below(2) == 0 { archive.len().saturating_sub(1500) } else { 0 };
            let index = from + random.below(archive.len() - from);
            archive[index] = match random.below(4) {
                0 => 0,
                1 => 0xFF,
                2 => archive[index] ^ (1 << random.below(8)),
                _ => random.next() as u8,
            };
        }
        read(archive);
    }
}

#[test]
fn changed_bytes_of_json() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let archives = ARCHIVES.map(Entries::of);
    for _ in 0..count() {
        let mut entries = archives[random.below(archives.len())].clone();
        let config = random.below(4) == 0;
        let entry = entries.entry(if config { "model_weights_config.json" } else { "models/model.json" });
        for _ in 0..=random.below(3) {
            let index = random.below(entry.len());
            entry[index] = b"0123456789-\"{}[],.:eEtfn \\"[random.below(26)];
        }
        read(entries.zip(CompressionMethod::Stored));
    }
}

#[test]
fn changed_values_of_json() {
    let mut random = Random(0xA076_1D64_78BD_642F);
    let models = ARCHIVES.map(|name| {
        let mut entries = Entries::of(name);
        let model = entries.json("models/model.json");
        let config = entries.json("model_weights_config.json");
        (entries, model, config)
    });
    let mut programs = 0;
    for _ in 0..count() {
        let (entries, model, config) = &models[random.below(models.len())];
        let (mut entries, mut model, mut config) = (entries.clone(), model.clone(), config.clone());
        for _ in 0..=random.below(3) {
            let changed = if random.below(4) == 0 { &mut config } else { &mut model };
            let other = picked(&mut random, changed).clone();
            change(&mut random, changed, other);
        }
        entries.set_json("models/model.json", &model);
        entries.set_json("model_weights_config.json", &config);
        programs += usize::from(read(entries.zip(CompressionMethod::Stored)));
    }
    assert!(programs > 0, "every change was noticed: the changes are too coarse to test anything");
}

/// A random value in another.
fn picked<'j>(random: &mut Random, json: &'j Json) -> &'j Json {
    let inner: Vec<&Json> = match json {
        Json::Array(items) => items.iter().collect(),
        Json::Object(object) => object.values().collect(),
        _ => return json,
    };
    if inner.is_empty() || random.below(12) == 0 {
        return json;
    }
    let next = inner[random.below(inner.len())];
    picked(random, next)
}

/// Changes a random value in another.
fn change(random: &mut Random, json: &mut Json, other: Json) {
    let stop = random.below(12) == 0;
    match json {
        Json::Array(items) if !items.is_empty() && !stop => {
            let index = random.below(items.len());
            change(random, &mut items[index], other);
        }
        Json::Object(object) if !object.is_empty() && !stop => {
            let index = random.below(object.len());
            if let Some(inner) = object.values_mut().nth(index) {
                change(random, inner, other);
            }
        }
        Json::Array(items) if !items.is_empty() && random.below(3) > 0 => {
            let index = random.below(items.len());
            if random.below(2) == 0 {
                items.remove(index);
            } else {
                items.insert(index, other);
            }
        }
        value => {
            *value = match random.below(12) {
                0 => json!(i64::MAX),
                1 => json!(i64::MIN),
                2 => json!(-1),
                3 => json!(1_u64 << 62),
                4 => json!(null),
                5 => json!([]),
                6 => json!({}),
                7 => json!(""),
                8 => json!(1e300),
                9 => json!(true),
                _ => other,
            };
        }
    }
}
