//! Columns summed to images, the way back from patches to what they were cut from: `col2im`. Owns what is to be
//! computed; arguments are checked where patches are (`composite/patches.rs`).
#![deny(clippy::arithmetic_side_effects)]

use crate::order::check_overlap;
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, Options, Result};

/// Patches along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PatchAxis {
    /// Places of the image.
    pub size: i64,
    /// How far the first patch begins before them.
    pub padding: i64,
    /// Places of a patch.
    pub kernel: i64,
    /// From one place of a patch to the next.
    pub dilation: i64,
    /// From one patch to the next.
    pub stride: i64,
    /// The number of patches.
    pub patches: i64,
}

impl PatchAxis {
    /// The patches whose place number `place` is one of the image: the first one, and how many.
    pub fn inside(&self, place: i64) -> (i64, i64) {
        let first = place.wrapping_mul(self.dilation).wrapping_sub(self.padding);
        let before = |end: i64| {
            // Patches before the first one at `end` or behind it.
            let left = end.saturating_sub(first).saturating_add(self.stride).saturating_sub(1);
            left.checked_div_euclid(self.stride).unwrap_or(0).clamp(0, self.patches)
        };
        let (low, high) = (before(0), before(self.size));
        (low, high.saturating_sub(low))
    }

    /// The place of the image at which place number `place` of a patch is.
    pub fn at(&self, patch: i64, place: i64) -> i64 {
        let start = patch.wrapping_mul(self.stride).wrapping_sub(self.padding);
        start.wrapping_add(place.wrapping_mul(self.dilation))
    }
}

/// Patches along the height and the width of planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ColumnPlan {
    /// Images times channels.
    pub planes: usize,
    /// Along the height and the width.
    pub axes: [PatchAxis; 2],
    /// The output may overwrite the columns, so those are to be copied first.
    pub copies: bool,
}

/// Every place of an image is the sum of the places of patches that cover it, added in their order.
///
/// Invariant: the columns have an element for each plane, place of a patch and patch, in this order.
pub struct ColumnSum;

/// The inputs of a call.
pub struct ColumnInputs<'t> {
    columns: [Operand<'t>; 1],
    sizes: [i64; 4],
    axes: [PatchAxis; 2],
}

impl<'t> ColumnInputs<'t> {
    /// Columns as a tensor of batch, channels, places of a patch and patches, both along height and width, so of six
    /// dimensions.
    pub(crate) fn new(columns: Operand<'t>, axes: [PatchAxis; 2]) -> ColumnInputs<'t> {
        let [batch, channels] = [0, 1].map(|d| columns.sizes().get(d).copied().unwrap_or(0));
        ColumnInputs { columns: [columns], sizes: [batch, channels, axes[0].size, axes[1].size], axes }
    }

    /// The columns.
    pub fn columns(&self) -> &Operand<'t> {
        &self.columns[0]
    }
}

impl StructuredOp for ColumnSum {
    const NAME: &'static str = "col2im";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = ColumnInputs<'t>;
    type Plan = ColumnPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.columns
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let columns = inputs.columns();
        let device = columns.tensor().map_or(DeviceId::CPU, |t| t.device());
        let options = Options::new(columns.dtype().unwrap_or(DType::F32), device);
        sink.set_output_contiguous(0, &inputs.sizes, options, None)?;
        let (_, copies) = check_overlap(&inputs.columns, sink, false)?;
        let [batch, channels, ..] = inputs.sizes;
        let planes = (batch as usize).saturating_mul(channels as usize);
        *plan = ColumnPlan { planes, axes: inputs.axes, copies };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every choice of small numbers.
    fn axes() -> impl Iterator<Item = PatchAxis> {
        let digit = |i: i64, of: i64, n: i64| i.checked_div(of).and_then(|rest| rest.checked_rem(n)).unwrap_or(0);
        (0..6 * 3 * 3 * 3 * 3).filter_map(move |i| {
            let [size, padding] = [digit(i, 1, 6), digit(i, 6, 3)];
            let [kernel, dilation, stride] = [18, 54, 162].map(|of| digit(i, of, 3).saturating_add(1));
            let padded = size.saturating_add(padding.saturating_mul(2));
            let room = padded.saturating_sub(dilation.saturating_mul(kernel.saturating_sub(1)).saturating_add(1));
            let patches = room.checked_div(stride)?.saturating_add(1);
            (room >= 0).then_some(PatchAxis { size, padding, kernel, dilation, stride, patches })
        })
    }

    #[test]
    fn patches_inside_are_those_whose_place_is_one_of_the_image() {
        for axis in axes() {
            for place in 0..axis.kernel {
                let inside: Vec<i64> =
                    (0..axis.patches).filter(|&patch| (0..axis.size).contains(&axis.at(patch, place))).collect();
                let (first, count) = axis.inside(place);
                assert_eq!((first..first.saturating_add(count)).collect::<Vec<_>>(), inside, "{axis:?}, {place}");
            }
        }
    }
}
