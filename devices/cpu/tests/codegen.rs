//! Plain loops over formulas must come out of each frame as vector code of the frame's width. This test reads its own
//! machine code with objdump: it asks of every instance of a frame that it computes in full registers and calls
//! nothing.
#![cfg(target_arch = "x86_64")]

mod frames;

use frames::{LEVELS, frames, functions};
use monomorph_cpu::half_bits::{f16_to_f32, f32_to_f16};
use monomorph_cpu::isa::{Isa, Kernel, Level};
use monomorph_cpu::scalar::Lane;
use monomorph_ops::algebra::{Exponential, Ordered};

struct Add<'a>(&'a [f32], &'a [f32], &'a mut [f32]);
struct Exp<'a>(&'a [f32], &'a mut [f32]);
struct ExpDouble<'a>(&'a [f64], &'a mut [f64]);
struct ClampHalf<'a>(&'a [u16], &'a mut [u16]);

impl<I: Isa> Kernel<I> for Add<'_> {
    type Home = Self;
    type Output = ();
    #[inline(always)]
    fn run(self, _: I) {
        for ((&a, &b), y) in self.0.iter().zip(self.1).zip(self.2) {
            *y = (Lane::<f32, I>::new(a) + Lane::new(b)).get();
        }
    }
}

impl<I: Isa> Kernel<I> for Exp<'_> {
    type Home = Self;
    type Output = ();
    #[inline(always)]
    fn run(self, _: I) {
        for (&x, y) in self.0.iter().zip(self.1) {
            *y = Lane::<f32, I>::new(x).exp().get();
        }
    }
}

impl<I: Isa> Kernel<I> for ExpDouble<'_> {
    type Home = Self;
    type Output = ();
    #[inline(always)]
    fn run(self, _: I) {
        for (&x, y) in self.0.iter().zip(self.1) {
            *y = Lane::<f64, I>::new(x).exp().get();
        }
    }
}

impl<I: Isa> Kernel<I> for ClampHalf<'_> {
    type Home = Self;
    type Output = ();
    #[inline(always)]
    fn run(self, _: I) {
        for (&x, y) in self.0.iter().zip(self.1) {
            let x = Lane::<half::f16, I>::new(f16_to_f32(x));
            *y = f32_to_f16(x.maximum(Lane::new(-1.0)).minimum(Lane::new(1.0)).get());
        }
    }
}

#[test]
fn frames_hold_vector_code() {
    // Running the loops is what puts the frames into this binary.
    let (a, b, mut y) = ([1.0; 100], [2.0; 100], [0.0; 100]);
    let (h, mut k, mut d) = ([0x4000; 100], [0; 100], [0.0; 100]);
    for level in Level::available() {
        level.enter(Add(&a, &b, &mut y));
        assert_eq!(y, [3.0; 100]);
        level.enter(Exp(&[0.0; 100], &mut y));
        assert_eq!(y, [1.0; 100]);
        level.enter(ExpDouble(&[0.0; 100], &mut d));
        assert_eq!(d, [1.0; 100]);
        level.enter(ClampHalf(&h, &mut k));
        assert_eq!(k, [0x3c00; 100]);
    }
    let Some(functions) = functions() else { return };
    for (frame, register) in LEVELS {
        let instances = frames(&functions, frame);
        assert_eq!(instances.len(), 4, "instances of {frame}");
        for body in instances {
            let packed = body.lines().filter(|line| line.contains(register)).count();
            assert!(packed >= 4, "{frame} has {packed} instructions on {register} registers:\n{body}");
            assert!(!body.contains("call"), "{frame} calls a function:\n{body}");
        }
    }
}
