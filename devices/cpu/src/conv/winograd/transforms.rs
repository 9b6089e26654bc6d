//! The transforms of F(4×4, 3×3), whose polynomials are evaluated at 0, ±1, ±2 and ∞:
//!
//! ```text
//!        4  0 -5  0  1  0            1/4     0     0
//!        0 -4 -4  1  1  0           -1/6  -1/6  -1/6           1  1  1  1  1  0
//!   Bᵀ = 0  4 -4 -1  1  0      G =  -1/6   1/6  -1/6     Aᵀ =  0  1 -1  2 -2  0
//!        0 -2 -1  2  1  0           1/24  1/12   1/6           0  1  1  4  4  0
//!        0  2 -1 -2  1  0           1/24 -1/12   1/6           0  1 -1  8 -8  1
//!        0  4  0 -5  0  1              0     0     1
//! ```
//!
//! Source: Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016, section 4.3.

/// Pixels of a tile of the map along one direction, of the window, and of what they see.
pub(super) const MADE: usize = 4;
pub(super) const TAPS: usize = 3;
pub(super) const SEEN: usize = MADE + TAPS - 1;

/// Elements of a transformed tile, `SEEN` rows of `SEEN`.
pub(super) const POINTS: usize = SEEN * SEEN;

/// The elements of `W` tiles: for each row and column of a tile one of each.
pub(super) type Tiles<const W: usize, const N: usize> = [[[f32; W]; N]; N];

/// `Bᵀ d`.
#[inline(always)]
fn input_line(d: [f32; SEEN]) -> [f32; SEEN] {
    let even = [d[4] - 4.0 * d[2], d[4] - d[2]];
    let odd = [d[3] - 4.0 * d[1], 2.0 * (d[3] - d[1])];
    [
        4.0 * d[0] - 5.0 * d[2] + d[4],
        even[0] + odd[0],
        even[0] - odd[0],
        even[1] + odd[1],
        even[1] - odd[1],
        4.0 * d[1] - 5.0 * d[3] + d[5],
    ]
}

/// `Aᵀ m`.
#[inline(always)]
fn output_line(m: [f32; SEEN]) -> [f32; MADE] {
    let (ones, twos) = ([m[1] + m[2], m[1] - m[2]], [m[3] + m[4], m[3] - m[4]]);
    [m[0] + ones[0] + twos[0], ones[1] + 2.0 * twos[1], ones[0] + 4.0 * twos[0], ones[1] + 8.0 * twos[1] + m[5]]
}

/// `G w`.
fn weight_line(w: [f64; TAPS]) -> [f64; SEEN] {
    let (ones, twos) = ((w[0] + w[2]) / -6.0, w[0] / 24.0 + w[2] / 6.0);
    let (one, two) = (w[1] / 6.0, w[1] / 12.0);
    [w[0] / 4.0, ones - one, ones + one, twos + two, twos - two, w[2]]
}

/// `G w Gᵀ`, point by point.
pub(super) fn weight(w: [[f64; TAPS]; TAPS]) -> [f32; POINTS] {
    let rows = w.map(weight_line);
    let columns: [[f64; SEEN]; SEEN] = std::array::from_fn(|x| weight_line(std::array::from_fn(|y| rows[y][x])));
    std::array::from_fn(|i| columns[i % SEEN][i / SEEN] as f32)
}

/// `Bᵀ d B` of each tile, in place.
#[inline(always)]
pub(super) fn input<const W: usize>(tiles: &mut Tiles<W, SEEN>) {
    for row in tiles.iter_mut() {
        lines(row.each_mut(), input_line);
    }
    for x in 0..SEEN {
        lines(tiles.each_mut().map(|row| &mut row[x]), input_line);
    }
}

/// Transforms a line of each of `W` tiles in place.
#[inline(always)]
fn lines<const W: usize>(elements: [&mut [f32; W]; SEEN], transform: impl Fn([f32; SEEN]) -> [f32; SEEN]) {
    for lane in 0..W {
        let line = transform(elements.each_ref().map(|of_tiles| of_tiles[lane]));
        (0..SEEN).for_each(|i| elements[i][lane] = line[i]);
    }
}

/// `Aᵀ m A` of each tile, plus a bias: `m` has the element of each tile at a point.
#[inline(always)]
pub(super) fn output<'m, const W: usize>(m: impl Fn(usize) -> &'m [f32; W], bias: f32) -> Tiles<W, MADE> {
    let mut half = [[[0.0; W]; MADE]; SEEN];
    for (y, row) in half.iter_mut().enumerate() {
        let points: [&[f32; W]; SEEN] = std::array::from_fn(|x| m(y * SEEN + x));
        for lane in 0..W {
            let made = output_line(points.map(|point| point[lane]));
            (0..MADE).for_each(|x| row[x][lane] = made[x]);
        }
    }
    let mut tiles = [[[0.0; W]; MADE]; MADE];
    for x in 0..MADE {
        for lane in 0..W {
            let made = output_line(std::array::from_fn(|y| half[y][x][lane]));
            (0..MADE).for_each(|y| tiles[y][x][lane] = made[y] + bias);
        }
    }
    tiles
}
