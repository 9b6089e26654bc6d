//! A row of a view with fewer arguments than its function.
use monomorph::crates::core::{Geometry, Result};

fn same(g: &Geometry, _dim: i64) -> Result<Geometry> {
    Ok(g.clone())
}

monomorph::operators! {
    family: Mine;

    func: my::same(Tensor(a) self) -> Tensor(a),
    variants: function, method, name: same_view, view: same;
}

fn main() {}
