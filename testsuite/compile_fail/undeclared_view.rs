//! A row of a view whose schema does not say that it is one.
use monomorph::crates::core::{Geometry, Result};

fn same(g: &Geometry, _dim: i64) -> Result<Geometry> {
    Ok(g.clone())
}

monomorph::operators! {
    family: Mine;

    func: my::same(Tensor self, int dim) -> Tensor,
    variants: function, method, name: same_view, view: same;
}

fn main() {}
