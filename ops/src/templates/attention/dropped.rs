//! Attention that drops weights at random, composed step by step as PyTorch's is, so that a seed drops the same ones.
#![deny(clippy::arithmetic_side_effects)]

use super::flash::Three;
use super::summed_in;
use crate::composite::callees::Typed;
use crate::composite::triangles::triu;
use crate::copies::{reshape, to_dtype};
use crate::factory::{empty_like, full};
use crate::functions::{add, amax_with, div_, eq, matmul, mul, softmax, where_};
use crate::kernels::AllKernels;
#[cfg(feature = "random")]
use crate::random::fills::bernoulli_;
use crate::view;
use monomorph_core::strides::DimVec;
use monomorph_core::{Result, Tensor};

/// What a call is asked for besides its tensors.
#[derive(Clone, Copy)]
pub(super) struct Dropped {
    /// The probability of each weight to be dropped.
    pub(super) p: f64,
    pub(super) is_causal: bool,
    pub(super) scale: f64,
    /// Whether heads of queries share those of keys.
    pub(super) grouped: bool,
}

impl Dropped {
    /// The output, with a mask that is added to the scores.
    pub(super) fn attend<D: AllKernels>(self, three: Three<'_, D>, mask: Option<&Tensor<D>>) -> Result<Tensor<D>> {
        let own = three[0].dtype();
        let wide = |t: &Tensor<D>| to_dtype(t, summed_in(own), false, false, None);
        let [query, key, value] = [wide(three[0])?, wide(three[1])?, wide(three[2])?];
        let (key, value) = match self.grouped {
            true => (shared(&key, &query)?, shared(&value, &query)?),
            false => (key, value),
        };
        // Half of the scale on each side, as magnitudes.
        let root = self.scale.abs().sqrt();
        let query = mul(&query, root.copysign(self.scale))?;
        let turned = key.with_geometry(view::transpose(key.geometry(), -2, -1)?)?;
        let mut scores = matmul(&query, &mul(&turned, root)?)?;
        if let Some(mask) = mask {
            scores = add(&scores, mask)?;
        }
        if self.is_causal {
            scores = add(&scores, &unseen(&scores)?)?;
        }
        let weights = self.thinned(&weights(&scores)?)?;
        to_dtype(&matmul(&weights, &value)?, own, false, false, None)
    }

    /// The weights that stay, scaled so that their mean does.
    fn thinned<D: AllKernels>(self, weights: &Tensor<D>) -> Result<Tensor<D>> {
        if self.p == 1.0 {
            return mul(weights, 0.0);
        }
        let stay = 1.0 - self.p;
        let mut noise = empty_like(weights, None, None, None, None, None)?;
        bernoulli_(&mut noise, stay, None)?;
        div_(&mut noise, stay)?;
        mul(weights, &noise)
    }
}

/// A build without random numbers drops nothing.
#[cfg(not(feature = "random"))]
fn bernoulli_<D: AllKernels>(_: &mut Tensor<D>, _: f64, _: Option<&monomorph_core::Generator>) -> Result<()> {
    Err(crate::composite::rule("argument dropout_p is not 0, which needs the feature `random` of the crate monomorph"))
}

/// Heads of keys or values, each so often that there are as many as of queries.
fn shared<D: AllKernels>(t: &Tensor<D>, query: &Tensor<D>) -> Result<Tensor<D>> {
    let heads = |t: &Tensor<D>| t.ndim().checked_sub(3).map_or(1, |d| t.sizes()[d]);
    let (own, all) = (heads(t), heads(query));
    if own == all {
        return Ok(t.clone());
    }
    if t.ndim() < 3 || all.checked_rem(own) != Some(0) {
        return Err(crate::composite::rule("the heads of queries are no multiple of those of keys and values"));
    }
    let at = t.ndim().saturating_sub(2);
    let mut sizes = DimVec::from_slice(t.sizes());
    sizes.insert(at, all.checked_div(own).unwrap_or(1));
    let repeated = t.with_geometry(view::unsqueeze(t.geometry(), at as i64)?)?;
    let repeated = repeated.with_geometry(view::expand(repeated.geometry(), &sizes, false)?)?;
    sizes.remove(at);
    sizes[at.saturating_sub(1)] = all;
    reshape(&repeated, &sizes)
}

/// What is added to scores where query `i` sees the keys up to number `i`.
fn unseen<D: AllKernels>(scores: &Tensor<D>) -> Result<Tensor<D>> {
    let sizes = &scores.sizes()[scores.ndim().saturating_sub(2)..];
    let none = full(sizes, f64::NEG_INFINITY, Some(scores.dtype()), None, Some(scores.device()), None)?;
    triu(&Typed::<D>::CALLEES, &none, 1)
}

/// The softmax of each row; zeros where a query sees no key.
fn weights<D: AllKernels>(scores: &Tensor<D>) -> Result<Tensor<D>> {
    let options = crate::options::Amax { keepdim: true, ..Default::default() };
    let is_blind = eq(&amax_with(scores, -1, options)?, f64::NEG_INFINITY)?;
    where_(&is_blind, 0.0, &softmax(scores, -1)?)
}
