//! Kernels that come with the program, compiled ahead, so that neither a compiler nor a cache is needed where it runs.
//! Owns what they are found by; what is in a translation unit is `compile`'s.

use crate::cache::fingerprint;
use crate::nvrtc::Nvrtc;
use std::collections::HashMap;
use std::sync::OnceLock;

static SUPPLY: OnceLock<Supply> = OnceLock::new();

/// What the kernels of one formula, fold or operator are found by: their text as a translation unit of their own, and
/// the options and architecture that it is compiled for. The compiler's version is no part of it: there may be none to
/// ask.
pub fn unit_key(text: &str, architecture: &str) -> u128 {
    let options = Nvrtc::options(architecture);
    fingerprint(std::iter::once(text).chain(options.iter().map(String::as_str)))
}

/// Machine code of many kernels.
#[derive(Debug, Default)]
pub struct Supply {
    images: Vec<Vec<u8>>,
    places: HashMap<u128, usize>,
}

impl Supply {
    /// Images of machine code, each with the [keys](unit_key) of those whose kernels are in it.
    pub fn new(all: impl IntoIterator<Item = (Vec<u128>, Vec<u8>)>) -> Supply {
        let mut supply = Supply::default();
        for (keys, image) in all {
            supply.places.extend(keys.into_iter().map(|key| (key, supply.images.len())));
            supply.images.push(image);
        }
        supply
    }

    /// How many images and keys there are.
    pub fn size(&self) -> (usize, usize) {
        (self.images.len(), self.places.len())
    }

    /// Uses these kernels in this process. `false`, and nothing changed, where others are in use already.
    ///
    /// # Safety
    ///
    /// The images are what a compiler gave for texts of these keys.
    pub unsafe fn apply(self) -> bool {
        SUPPLY.set(self).is_ok()
    }

    /// The machine code of a text, if it came with the program.
    pub(crate) fn find(text: &str, architecture: &str) -> Option<&'static [u8]> {
        let supply = SUPPLY.get()?;
        let place = supply.places.get(&unit_key(text, architecture))?;
        supply.images.get(*place).map(Vec::as_slice)
    }

    /// Whether there is anything to be found.
    pub(crate) fn is_in_use() -> bool {
        SUPPLY.get().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_of_text_and_architecture() {
        assert_eq!(unit_key("a", "sm_90"), unit_key("a", "sm_90"));
        assert!(unit_key("a", "sm_90") != unit_key("b", "sm_90") && unit_key("a", "sm_90") != unit_key("a", "sm_80"));
        let supply = Supply::new([(vec![1, 2], vec![7]), (vec![3], vec![8])]);
        assert_eq!((supply.size(), supply.places[&2], supply.places[&3]), ((2, 3), 0, 1));
    }
}
