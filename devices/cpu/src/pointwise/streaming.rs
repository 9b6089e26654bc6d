//! Outputs that no cache will keep: computed in a block, and stored past the caches, so that their lines need not be read
//! from memory before they are overwritten.

use super::body::Body;
use super::driver::MAX;
use crate::lane::{Lane, Stage};
use crate::moves::{LINE, stream_lines};

/// Bytes of output that are computed at a time. The processor looks further ahead than that, so that it reads the operands of
/// the next block while this one is stored; blocks of 4 KiB gain a third as much.
const BLOCK: usize = 512;

/// An output of more bytes is not expected to stay in the last cache until somebody reads it.
const FAR_BYTES: usize = 32 << 20;

/// Whether an output of so many bytes had better be streamed.
pub(super) fn pays(bytes: usize) -> bool {
    bytes > FAR_BYTES && crate::processor::Maker::current().reads_what_it_overwrites()
}

/// What [`Body`] does, for an output that lies apart from every input. `lanes` are those of the output and the inputs. Other threads
/// see the output after [`end_stream`](crate::moves::end_stream): to wait for the stores of every row would take as long as the row.
///
/// # Safety
///
/// K1 to K4 of `body.rs`, where each input lies apart from the output.
#[inline(never)]
pub(super) unsafe fn streamed(
    body: Body,
    lanes: &[Lane],
    out: *mut u8,
    ins: &[*const u8; MAX],
    n: usize,
    params: *const (),
) -> bool {
    let (size, ins_of) = (lanes[0].size(), |done: usize| {
        let mut moved = *ins;
        for (at, lane) in moved.iter_mut().zip(&lanes[1..]) {
            *at = at.wrapping_add(done * lane.size());
        }
        moved
    });
    let mut block = Stage::<BLOCK>::NEW;
    let head = (out.align_offset(LINE) / size).min(n);
    // SAFETY: K1 to K4 for the elements before the first whole line.
    if head > 0 && !unsafe { body(out, ins.as_ptr(), head, params) } {
        return false;
    }
    let step = BLOCK / size;
    let mut done = head;
    while n - done >= step {
        // SAFETY: K1 and K4 passed on; K2 for these elements of the inputs, and the block has room for so many of the
        // output's dtype; K3 since the block is ours.
        if !unsafe { body(block.data(), ins_of(done).as_ptr(), step, params) } {
            return false;
        }
        // SAFETY: K2 for these elements of the output, which are BLOCK bytes and begin with a line (`head`); the block was
        // just filled, begins with a line too, and lies apart.
        unsafe { stream_lines(block.data(), out.wrapping_add(done * size), BLOCK) };
        done += step;
    }
    // SAFETY: K1 to K4 for the elements after the last whole block.
    done == n || unsafe { body(out.wrapping_add(done * size), ins_of(done).as_ptr(), n - done, params) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::Bits;
    use crate::isa::Level;
    use monomorph_core::DType;

    /// The sum of a float32 and an int16 operand, if none of the latter is negative.
    unsafe fn body(out: *mut u8, ins: *const *const u8, n: usize, _: *const ()) -> bool {
        for i in 0..n {
            // SAFETY: K2.
            let [a, b] = unsafe { ins.cast::<[*const u8; 2]>().read() };
            // SAFETY: K2.
            let a = unsafe { a.cast::<f32>().wrapping_add(i).read() };
            // SAFETY: K2.
            let b = unsafe { b.cast::<i16>().wrapping_add(i).read() };
            if b < 0 {
                return false;
            }
            // SAFETY: K2.
            unsafe { out.cast::<f32>().wrapping_add(i).write(a + f32::from(b)) };
        }
        true
    }

    /// Every place that a run may begin and end within a line and a block; nothing else is written.
    #[test]
    fn every_element_is_stored_once_wherever_the_output_begins() {
        let lane = |dtype| Lane::input(dtype, dtype, Bits::default(), Level::Portable);
        let lanes = [DType::F32, DType::F32, DType::I16].map(lane);
        let a: Vec<f32> = (0..1200).map(|i| i as f32).collect();
        let mut b: Vec<i16> = (0..1200).map(|i| i * 3).collect();
        let run = |out: &mut [f32], a: &[f32], b: &[i16], n: usize| {
            let mut ins = [std::ptr::null(); MAX];
            (ins[0], ins[1]) = (a.as_ptr().cast(), b.as_ptr().cast());
            // SAFETY: K1: the body asks for no level, K2: all have `n` elements, K3: they lie apart, K4: no parameters.
            unsafe { streamed(body, &lanes, out.as_mut_ptr().cast(), &ins, n, std::ptr::null()) }
        };
        for start in 0..20 {
            for n in [0, 1, 5, 16, 127, 128, 129, 143, 144, 500, 1100] {
                let mut out = vec![-1.0f32; 1200];
                assert!(run(&mut out[start..start + n], &a[..n], &b[..n], n));
                for (i, &x) in out.iter().enumerate() {
                    let want = if (start..start + n).contains(&i) { (i - start) as f32 * 4.0 } else { -1.0 };
                    assert_eq!(x, want, "element {i} of {n} from {start} on");
                }
            }
        }
        b[700] = -1;
        assert!(!run(&mut vec![0.0; 1100], &a, &b, 1100));
    }
}
