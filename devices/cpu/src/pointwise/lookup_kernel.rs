//! The kernel that looks results up in a table of at most four entries, by the bytes of one or two bool inputs. It
//! knows no formula and only the size of an element; `small_domain.rs` builds the table.
//!
//! The entries are read once, and the loop selects between them, so that the compiler makes blends of it in place of
//! loads that depend on the data.

use super::kernel_fn::{KernelFn, Traversal};
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, Kernel, Level, Portable};
use crate::staging::StageBuffer;
use monomorph_core::each;

/// The most bytes of an element.
pub(super) const MAX_ELEMENT_BYTES: usize = 16;

/// The most tensors.
pub(super) const MAX_TENSORS: usize = 2;

/// The most entries of a table: the values of two bools.
pub(super) const MAX_ENTRIES: usize = 1 << MAX_TENSORS;

/// The parameters of a lookup kernel: which inputs index the table, and the table. Entries that differ only in the last
/// input are neighbours.
pub(super) struct LookupParams {
    pub(super) inputs: [usize; MAX_TENSORS],
    pub(super) table: StageBuffer<{ MAX_ENTRIES * MAX_ELEMENT_BYTES }>,
}

/// The kernel that looks outputs of `size` bytes up in a table, by the bytes of one or two inputs. Its parameters are
/// [`LookupParams`].
pub(super) fn lookup_kernel(size: usize, tensors: usize, level: Level) -> KernelFn {
    match size {
        1 => lookup_kernel_of::<u8>(tensors, level),
        2 => lookup_kernel_of::<u16>(tensors, level),
        4 => lookup_kernel_of::<u32>(tensors, level),
        8 => lookup_kernel_of::<u64>(tensors, level),
        _ => lookup_kernel_of::<[u64; 2]>(tensors, level),
    }
}

fn lookup_kernel_of<T: Copy>(tensors: usize, level: Level) -> KernelFn {
    if tensors == 1 {
        return level.choose(
            lookup::<T, Portable, 1>,
            #[cfg(target_arch = "x86_64")]
            [lookup::<T, Avx2, 1>, lookup::<T, Avx512, 1>],
        );
    }
    level.choose(
        lookup::<T, Portable, 2>,
        #[cfg(target_arch = "x86_64")]
        [lookup::<T, Avx2, 2>, lookup::<T, Avx512, 2>],
    )
}

/// # Safety
///
/// K1–K4 of `kernel_fn.rs`, where the parameters are [`LookupParams`] and K2 holds for the inputs that they name.
unsafe fn lookup<T: Copy, I: Isa, const N: usize>(
    out: *mut u8,
    ins: *const *const u8,
    n: usize,
    params: *const (),
    _traversal: Traversal<'_>,
) -> bool {
    // SAFETY: the parameters of this kernel are `LookupParams` (K4).
    let params = unsafe { &*params.cast::<LookupParams>() };
    let from = std::array::from_fn::<_, N, _>(|k| {
        // SAFETY: `ins` has a pointer for each input (K2), and `inputs` are numbers of inputs.
        unsafe { ins.wrapping_add(params.inputs[k]).read() }
    });
    let results = std::ptr::from_ref(&params.table).cast::<T>();
    let table = std::array::from_fn(|k| {
        // SAFETY: the table has `1 << N` elements of the output (K4), which have the size of `T`; beyond them the first
        // is read once more.
        unsafe { results.wrapping_add(if k >> N == 0 { k } else { 0 }).read_unaligned() }
    });
    // SAFETY: the host has the level `I` that this kernel was chosen for (K1).
    let isa = unsafe { I::assume() };
    isa.enter(Lookup { out: out.cast::<T>(), from, n, table });
    true
}

/// The loop of a lookup by `N` inputs.
struct Lookup<T, const N: usize> {
    out: *mut T,
    from: [*const u8; N],
    n: usize,
    table: [T; MAX_ENTRIES],
}

impl<T: Copy, const N: usize, I: Isa> Kernel<I> for Lookup<T, N> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let [neither, last, first, both] = self.table;
        for i in 0..self.n {
            let is: [bool; N] = each(
                #[inline(always)]
                |k| {
                    // SAFETY: `i < n`, so byte `i` of each input that is looked up is in bounds and initialised (K2).
                    unsafe { self.from[k].wrapping_add(i).read() != 0 }
                },
            );
            let [no, yes] = if N > 1 && is[0] { [first, both] } else { [neither, last] };
            let to = self.out.wrapping_add(i);
            // SAFETY: `i < n`, so element `i` of the output is writable (K2); an input that is the output was read
            // before (K3).
            unsafe { to.write_unaligned(if is[N - 1] { yes } else { no }) };
        }
    }
}
