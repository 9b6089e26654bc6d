//! Arithmetic on sizes, strides and offsets: those of tensors without elements may be any, and neither a debug build
//! may panic nor a release build reach beyond a storage.

use super::{Case, call, case, empty, in_bounds, ramp, refused, total, unexpected};
use monomorph::crates::iter::foreign::{ForeignView, ForeignViewMut, map1};
use monomorph::crates::iter::{Config, DimCounter, Flags, View, build_over};
use monomorph::{AnyTensor, Cpu, DType, Geometry, IValue};
use std::panic::{AssertUnwindSafe, catch_unwind};

const MAX: i64 = i64::MAX;

pub(super) const CASES: &[Case] = &[
    case("far_select", "select of a tensor without elements and with far strides", || {
        each("select.int", &[[0, 0], [1, 2], [2, 4], [-1, -1]])
    }),
    case("far_narrow", "narrow", || each("narrow", &[[1, 1, 2], [2, 4, 1], [0, 0, 0], [2, MAX, MAX]])),
    case("far_slice", "slice", || {
        each("slice.Tensor", &[[1, 1, 3, 1], [2, 1, MAX, MAX], [2, -MAX, MAX, 2], [1, 2, 3, 1 << 62]])
    }),
    case("far_unfold", "unfold", || each("unfold", &[[1, 2, 1], [2, 2, MAX], [2, 5, 3], [0, 0, 1]])),
    case("far_diagonal", "diagonal", || {
        each("diagonal", &[[1, 0, 1], [4, 1, 2], [-2, 1, 2], [MAX, 0, 2], [i64::MIN, 0, 1]])
    }),
    case("far_unbind", "unbind", || each("unbind.int", &[[0], [1], [2]])),
    case("far_split", "split and chunk", far_split),
    case("far_rearranged", "views that keep elements: transpose, movedim, squeeze, flatten, expand", far_rearranged),
    case("far_reshaped", "views to other sizes, and as_strided", far_reshaped),
    case("far_reduced", "reductions of nothing with far strides", far_reduced),
    case("far_upsample", "upsample of nothing with far strides", far_upsample),
    case("far_split_at_mut", "split_at_mut of nothing with far strides", far_split_at_mut),
    case("far_computed", "pointwise calls, copies and reads of nothing with far strides", far_computed),
    case("limits_of_resize", "resize_, set_ and as_strided up to the largest int64", limits_of_resize),
    case("counter_shapes", "DimCounter: sizes of 0, of usize::MAX, ranges beyond the shape", counter_shapes),
    case("iteration_accessors", "an iteration asked for operands and dimensions that it has not", iteration_accessors),
    case("foreign_builder", "the wrong number of operands, sizes and strides at the limits", foreign_builder),
];

/// Tensors of no element, of sizes with one 0 and strides that overflow in every product.
fn far() -> Vec<AnyTensor> {
    [
        (&[0, 3, 5][..], &[MAX, MAX, MAX][..], MAX),
        (&[3, 0, 5], &[1 << 62, 1, MAX], 1 << 62),
        (&[3, 4, 0], &[MAX, 1 << 62, MAX], MAX - 1),
        (&[0, MAX, MAX], &[MAX, 1 << 62, 1 << 62], MAX),
    ]
    .map(|(sizes, strides, offset)| empty(sizes, strides, offset))
    .into()
}

/// The call of a view with each list of numbers, on each tensor.
fn each<const N: usize>(name: &str, numbers: &[[i64; N]]) -> Result<(), String> {
    for tensor in far() {
        for list in numbers {
            let mut stack = vec![IValue::from(tensor.clone())];
            stack.extend(list.map(IValue::Int));
            let outcome = monomorph::call(name, &mut stack).map(|()| stack);
            total(outcome).map_err(|what| format!("{name} {list:?} of {:?}: {what}", tensor.geometry()))?;
        }
    }
    Ok(())
}

fn far_split() -> Result<(), String> {
    each("split.Tensor", &[[2, 1], [2, 2], [1, 0], [MAX, 1]])?;
    each("chunk", &[[2, 1], [3, 2], [MAX, 0]])?;
    each("tensor_split.sections", &[[2, 1], [3, 2]])
}

fn far_rearranged() -> Result<(), String> {
    each("transpose.int", &[[0, 1], [1, 2], [-1, 0]])?;
    each("movedim.int", &[[0, 2], [-1, 0]])?;
    each("squeeze.dim", &[[0], [1]])?;
    each("unsqueeze", &[[0], [3], [-1]])?;
    each("flatten.using_ints", &[[0, 1], [1, 2], [0, -1]])?;
    for tensor in far() {
        total(call("expand", [tensor.clone().into(), IValue::Ints(vec![2, -1, -1, -1])]))?;
        total(call("expand", [tensor.clone().into(), IValue::Ints(vec![MAX, -1, -1, -1])]))?;
        total(call("permute", [tensor.into(), IValue::Ints(vec![2, 0, 1])]))?;
    }
    Ok(())
}

fn far_reshaped() -> Result<(), String> {
    for tensor in far() {
        for name in ["view", "reshape"] {
            for sizes in [vec![0], vec![-1], vec![0, MAX, MAX], vec![MAX, MAX, -1], vec![3, 0, 5], vec![]] {
                total(call(name, [tensor.clone().into(), IValue::Ints(sizes)]))?;
            }
        }
        for (sizes, strides) in [(vec![0, MAX], vec![MAX, MAX]), (vec![2], vec![MAX]), (vec![], vec![])] {
            total(call(
                "as_strided",
                [tensor.clone().into(), IValue::Ints(sizes), IValue::Ints(strides), IValue::Int(MAX)],
            ))?;
        }
        total(call("view.dtype", [tensor.clone().into(), DType::F64.into()]))?;
        total(call("view.dtype", [tensor.clone().into(), DType::U8.into()]))?;
        total(call("view_as_complex", [tensor.into()]))?;
    }
    Ok(())
}

fn far_reduced() -> Result<(), String> {
    for tensor in far().into_iter().take(3) {
        for name in ["sum.dim_IntList", "mean.dim", "amax", "amin"] {
            for dims in [vec![], vec![0], vec![1], vec![2], vec![0, 1, 2]] {
                total(call(name, [tensor.clone().into(), IValue::Ints(dims)]))?;
            }
        }
        total(call("argmax", [tensor.clone().into()]))?;
        total(call("any", [tensor.clone().into()]))?;
        total(call("sum", [tensor.into()]))?;
    }
    Ok(())
}

fn far_upsample() -> Result<(), String> {
    for tensor in far() {
        for size in [1, 3, 1 << 40, MAX] {
            total(call("upsample_nearest1d", [tensor.clone().into(), IValue::Ints(vec![size]), IValue::None]))?;
        }
    }
    Ok(())
}

fn far_split_at_mut() -> Result<(), String> {
    for tensor in far() {
        let mut tensor = tensor.downcast::<Cpu>().ok_or("a CPU tensor")?;
        for (dim, index) in [(0, 0), (1, 2), (2, 3), (1, MAX), (-1, 1), (i64::MIN, 0), (MAX, 0)] {
            match tensor.split_at_mut(dim, index) {
                Ok((low, high)) => [low, high].iter().try_for_each(|part| in_bounds(part.as_any()))?,
                Err(error) => refused::<()>(Err(error))?,
            }
        }
    }
    Ok(())
}

fn far_computed() -> Result<(), String> {
    for tensor in far() {
        total(call("add.Tensor", [tensor.clone().into(), tensor.clone().into()]))?;
        total(call("neg", [tensor.clone().into()]))?;
        total(call("clone", [tensor.clone().into()]))?;
        total(call("neg_", [tensor.clone().into()]))?;
        total(call("copy_", [tensor.clone().into(), tensor.clone().into()]))?;
        total(call("cat", [IValue::Tensors(vec![tensor.clone(), tensor.clone()])]))?;
        let out = ramp(&[2]);
        total(call("neg.out", [tensor.clone().into(), out.into()]))?;
        if !tensor.to_vec::<f32>().map_err(unexpected)?.is_empty() {
            return Err("there is an element".to_owned());
        }
    }
    Ok(())
}

fn limits_of_resize() -> Result<(), String> {
    for sizes in [vec![MAX], vec![1 << 62, 2], vec![MAX, 0], vec![0, MAX, MAX], vec![-1], vec![i64::MIN]] {
        total(call("resize_", [ramp(&[3]).into(), IValue::Ints(sizes.clone())]))?;
        let storage = ramp(&[3]).storage();
        let strides = vec![MAX; sizes.len()];
        let set = [
            ramp(&[2]).into(),
            storage.into(),
            IValue::Int(MAX),
            IValue::Ints(sizes.clone()),
            IValue::Ints(strides.clone()),
        ];
        total(call("set_.source_Storage_storage_offset", set))?;
        total(call("as_strided_", [ramp(&[3]).into(), IValue::Ints(sizes), IValue::Ints(strides), IValue::Int(MAX)]))?;
    }
    for (sizes, strides, offset) in
        [([MAX, 2], [1, 1], 0), ([2, 2], [MAX, MAX], 0), ([1, 1], [MAX, MAX], MAX), ([2, 2], [-1, 1], 1)]
    {
        refused(Geometry::new(DType::C128, &sizes, &strides, offset))?;
    }
    Ok(())
}

/// Whatever it is told, a counter begins within the shape or is done, and does not panic.
fn counter_shapes() -> Result<(), String> {
    // By name, since a range that ends before it begins is meant here.
    let (max, five) = (usize::MAX, 5);
    let shapes: [&[usize]; 9] = [&[], &[0], &[0, 3], &[3, 0], &[0, 0], &[max], &[max, max], &[2, max, 3], &[1, 1, 1]];
    for shape in shapes {
        for range in [0..0, 0..max, 1..max, max..max, five..2, max - 1..max, 0..7] {
            let text = format!("{shape:?} {range:?}");
            let guarded = catch_unwind(AssertUnwindSafe(|| {
                let mut counter = DimCounter::new(shape, range.clone());
                for _ in 0..4 {
                    let done = counter.is_done();
                    let inside = counter.values().iter().zip(shape).all(|(value, size)| value < size);
                    let step = counter.max_2d_step();
                    let steps = step[0] > 0 && step[1] > 0;
                    if !(done || inside && counter.values().len() == shape.len() && steps) {
                        return Err(format!("{text}: {:?} with a step of {step:?}", counter.values()));
                    }
                    counter.advance();
                }
                Ok(())
            }));
            guarded.map_err(|_| format!("{text}: panicked"))??;
        }
    }
    Ok(())
}

fn iteration_accessors() -> Result<(), String> {
    let (sizes, strides) = ([2, 3], [3, 1]);
    let view = View::new(DType::F32, &sizes, &strides);
    let config = Config::new(Flags::UNARY);
    let built = build_over(&config, &[view], &[view]).map_err(unexpected)?;
    for k in [0, 2, 7, usize::MAX] {
        let told = |what: &str, ask: &dyn Fn()| {
            catch_unwind(AssertUnwindSafe(ask)).map_err(|_| format!("{what} of {k} panicked"))
        };
        told("dtype", &|| {
            let _ = built.dtype(k);
        })?;
        told("loop_dtype", &|| {
            let _ = built.loop_dtype(k);
        })?;
        told("strides", &|| {
            let _ = built.strides(k);
        })?;
        told("is_conj", &|| {
            let _ = (built.is_conj(k), built.is_neg(k));
        })?;
        told("is_dim_reduced", &|| {
            let _ = built.is_dim_reduced(k);
        })?;
        told("narrow", &|| {
            let _ = (built.narrow(k, k, k), built.split(k));
        })?;
    }
    // Neither more operands than there are, nor fewer, nor none.
    for (outputs, inputs) in [(0, 0), (0, 1), (1, 0), (2, 5), (40, 40)] {
        let guarded =
            catch_unwind(AssertUnwindSafe(|| build_over(&config, &vec![view; outputs], &vec![view; inputs]).is_ok()));
        guarded.map_err(|_| format!("{outputs} outputs and {inputs} inputs panicked"))?;
    }
    Ok(())
}

fn foreign_builder() -> Result<(), String> {
    let data = [1.0f32, 2.0, 3.0, 4.0];
    let limits = [isize::MAX, isize::MIN, isize::MIN + 1, -1, 0, 1];
    for size in [0, 1, 2, 4, usize::MAX, usize::MAX / 2, 1 << 62] {
        for stride in limits {
            for offset in [0, 3, 4, usize::MAX] {
                let lists = ([size, 2], [stride, stride]);
                let read = ForeignView::from_slice(&data, &lists.0, &lists.1, offset);
                let mut out = [0.0f32; 4];
                let write = ForeignViewMut::from_slice(&mut out, &lists.0, &lists.1, offset);
                if let (Ok(write), Ok(read)) = (write, read)
                    && size <= 4
                {
                    // May be refused: a written element is reached once.
                    let _ = map1(write, read, |x: f32| x + 1.0);
                }
            }
        }
    }
    refused(ForeignView::from_slice(&data, &[5], &[1], 0).map(|_| ()))?;
    refused(ForeignView::from_slice(&data, &[2, 2], &[1], 0).map(|_| ()))
}
