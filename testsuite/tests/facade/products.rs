//! Products of matrices against loops over indices: dtypes × layouts, in every form; what is composed of them; what is
//! refused. Elements are small integers, of which every dtype has exact sums.

use monomorph::ops::options::*;
use monomorph::prelude::*;
use monomorph::{AnyTensor, Cpu, DType, ErrorKind, IValue, Result, Scalar, Tensor, call, meta, ops, tensor as t};
use monomorph_testsuite::layout::{Layout, Random, convert, tensor, values};

const DTYPES: [DType; 11] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

fn integers(dtype: DType, layout: Layout, sizes: &[i64], random: &mut Random) -> Tensor<Cpu> {
    let geometry = layout.geometry(dtype, sizes);
    let low = if dtype == DType::U8 { 0 } else { -2 };
    let all: Vec<Scalar> = (0..997).map(|_| convert(Scalar::Int(random.below(5) as i64 + low), dtype)).collect();
    tensor(geometry, &all)
}

fn ones(sizes: &[i64]) -> Result<Tensor<Cpu>> {
    Ok(tensor(Layout::Contiguous.geometry(DType::F32, sizes), &[Scalar::Float(1.0)]))
}

/// The elements of a matrix or of one member of a batch, by rows, as integers.
fn ints(t: &Tensor<Cpu>) -> Vec<i64> {
    values(t).into_iter().map(Scalar::to_i64).collect()
}

/// `beta * c + alpha * a b` of row-major elements.
fn naive([m, n, k]: [usize; 3], a: &[i64], b: &[i64], c: &[i64], beta: i64, alpha: i64) -> Vec<i64> {
    let mut result = Vec::new();
    for i in 0..m {
        for j in 0..n {
            let sum: i64 = (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
            result.push(beta * c.get(i * n + j).copied().unwrap_or(0) + alpha * sum);
        }
    }
    result
}

/// Integers as they are in a dtype.
fn wrapped(all: Vec<i64>, dtype: DType) -> Vec<i64> {
    all.into_iter().map(|x| convert(Scalar::Int(x), dtype).to_i64()).collect()
}

#[test]
fn matrices_of_every_dtype_and_layout() -> Result<()> {
    let mut random = Random::new(11);
    for dtype in DTYPES {
        for (i, &layout) in Layout::ALL.iter().enumerate() {
            // Of every kernel: few elements, few rows or columns, blocks, none.
            let sizes =
                [[3, 4, 5], [1, 6, 7], [9, 1, 5], [17, 12, 20], [2, 3, 0], [3, 600, 20], [600, 2, 30], [4, 9, 1100]];
            // Halves hold sums of 30 products exactly, and not of 1100.
            let is_half = matches!(dtype, DType::F16 | DType::BF16);
            for [m, n, k] in sizes.into_iter().filter(|[_, _, k]| !is_half || *k <= 30) {
                let other = Layout::ALL[(i + 2) % Layout::ALL.len()];
                let a = integers(dtype, layout, &[m, k], &mut random);
                let b = integers(dtype, other, &[k, n], &mut random);
                let c = integers(dtype, layout, &[m, n], &mut random);
                let sizes = [m, n, k].map(|size| size as usize);
                let place = format!("{dtype} {layout:?} {other:?} {sizes:?}");
                let want = |beta, alpha| wrapped(naive(sizes, &ints(&a), &ints(&b), &ints(&c), beta, alpha), dtype);
                let product = a.mm(&b)?;
                assert_eq!(ints(&product), want(0, 1), "mm {place}");
                assert!(product.is_contiguous());
                let options = Addmm { beta: 2.into(), alpha: (-1).into(), ..Default::default() };
                assert_eq!(ints(&c.addmm_with(&a, &b, options)?), want(2, -1), "addmm {place}");
                for out_layout in Layout::WRITABLE {
                    let mut out = integers(dtype, out_layout, &[m, n], &mut random);
                    let strides = out.strides().to_vec();
                    ops::mm_out(&a, &b, &mut out)?;
                    assert_eq!(ints(&out), want(0, 1), "mm.out {out_layout:?} {place}");
                    assert_eq!(out.strides(), strides, "an output of the right size keeps its strides");
                }
                if layout != Layout::Expanded {
                    let mut this = c.deep_clone()?;
                    this.addmm_with_(&a, &b, Addmm { alpha: 2.into(), ..Default::default() })?;
                    assert_eq!(ints(&this), want(1, 2), "addmm_ {place}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn batches_vectors_and_what_is_added() -> Result<()> {
    let mut random = Random::new(12);
    for dtype in DTYPES {
        for layout in Layout::ALL {
            let (a, b) =
                (integers(dtype, layout, &[3, 4, 5], &mut random), integers(dtype, layout, &[3, 5, 2], &mut random));
            let (all_a, all_b) = (ints(&a), ints(&b));
            let mut want = Vec::new();
            for i in 0..3 {
                want.extend(naive([4, 2, 5], &all_a[i * 20..][..20], &all_b[i * 10..][..10], &[], 0, 1));
            }
            let place = format!("{dtype} {layout:?}");
            assert_eq!(ints(&a.bmm(&b)?), wrapped(want.clone(), dtype), "bmm {place}");
            assert_eq!(ints(&a.matmul(&b)?), wrapped(want.clone(), dtype), "matmul {place}");
            let row = integers(dtype, Layout::Contiguous, &[2], &mut random);
            let sum = row.baddbmm(&a, &b)?;
            let added: Vec<i64> = want.iter().enumerate().map(|(i, x)| x + ints(&row)[i % 2]).collect();
            assert_eq!(ints(&sum), wrapped(added, dtype), "baddbmm {place}");
            let (matrix, vector) =
                (integers(dtype, layout, &[6, 7], &mut random), integers(dtype, layout, &[7], &mut random));
            let product = naive([6, 1, 7], &ints(&matrix), &ints(&vector), &[], 0, 1);
            assert_eq!(ints(&matrix.mv(&vector)?), wrapped(product.clone(), dtype), "mv {place}");
            let one = integers(dtype, Layout::Contiguous, &[1], &mut random);
            let added: Vec<i64> = product.iter().map(|x| x + ints(&one)[0]).collect();
            assert_eq!(ints(&one.addmv(&matrix, &vector)?), wrapped(added, dtype), "addmv {place}");
            let dot = naive([1, 1, 7], &ints(&vector), &ints(&vector), &[], 0, 1);
            assert_eq!(ints(&vector.dot(&vector)?), wrapped(dot, dtype), "dot {place}");
        }
    }
    Ok(())
}

#[test]
fn conjugate_views_multiply_as_their_elements() -> Result<()> {
    let number = |re: f32, im: f32| monomorph::Complex32::new(re, im);
    let a = Tensor::<Cpu>::from_vec(vec![number(1.0, 2.0), number(0.0, -1.0)], (1, 2))?;
    let b = Tensor::<Cpu>::from_vec(vec![number(3.0, 1.0), number(2.0, 0.0)], (2, 1))?;
    assert_eq!(a.conj()?.mm(&b)?.to_vec::<monomorph::Complex32>()?, [number(5.0, -3.0)]);
    assert_eq!(a.mm(&b.conj()?)?.to_vec::<monomorph::Complex32>()?, [number(5.0, 3.0)]);
    let (x, y) = (a.view(2)?, b.view(2)?);
    assert_eq!(x.vdot(&y)?.to_vec::<monomorph::Complex32>()?, [number(5.0, -3.0)]);
    // An output that is a conjugate view is what it shows.
    let base = Tensor::<Cpu>::from_vec(vec![number(0.0, 0.0)], (1, 1))?;
    let mut out = base.conj()?;
    ops::mm_out(&a, &b, &mut out)?;
    assert_eq!(out.to_vec::<monomorph::Complex32>()?, [number(1.0, 5.0)]);
    Ok(())
}

#[test]
fn outputs_that_are_inputs_are_written_last() -> Result<()> {
    let mut square = t![[1.0f32, 2.0], [3.0, 4.0]];
    let view = square.clone();
    call(
        "mm.out",
        &mut vec![view.clone().into_any().into(), view.into_any().into(), square.clone().into_any().into()],
    )?;
    assert_eq!(square.to_vec::<f32>()?, [7.0, 10.0, 15.0, 22.0]);
    let other = t![[0.0f32, 1.0], [1.0, 0.0]];
    square.addmm_(&other, &other)?;
    assert_eq!(square.to_vec::<f32>()?, [8.0, 10.0, 15.0, 23.0]);
    Ok(())
}

#[test]
fn numbers_follow_the_rules_of_blas() -> Result<()> {
    let nan = t![[f32::NAN]];
    let one = t![[1.0f32]];
    let with = |beta: i64, alpha: i64| Addmm { beta: beta.into(), alpha: alpha.into(), ..Default::default() };
    assert_eq!(nan.addmm_with(&one, &one, with(0, 1))?.to_vec::<f32>()?, [1.0], "beta 0 does not read");
    assert_eq!(one.addmm_with(&nan, &one, with(1, 0))?.to_vec::<f32>()?, [1.0], "alpha 0 does not read");
    let whole = t![[2i32]].addmm_with(&t![[3i32]], &t![[3i32]], Addmm { alpha: 1.5.into(), ..Default::default() })?;
    assert_eq!(whole.to_vec::<i32>()?, [11], "a fraction is cut for integers");
    let empty = ops::addmm_with(&t![[1.0f32]], &ones(&[1, 0])?, &ones(&[0, 1])?, with(3, 1))?;
    assert_eq!(empty.to_vec::<f32>()?, [3.0]);
    Ok(())
}

#[test]
fn what_is_refused() -> Result<()> {
    let (a, b) = (ones(&[2, 3])?, ones(&[3, 4])?);
    let kind = |result: Result<Tensor<Cpu>>| result.unwrap_err().kind().clone();
    assert!(matches!(kind(a.mm(&a)), ErrorKind::UnequalSizes { arg: "mat2", .. }));
    assert!(matches!(kind(a.mm(&b.to(DType::F64)?)), ErrorKind::DTypeMismatch { arg: "mat2", .. }));
    assert!(matches!(kind(ones(&[3])?.mm(&b)), ErrorKind::DimCount { arg: "self", got: 1, .. }));
    let bools = |t: &Tensor<Cpu>| t.to(DType::Bool);
    assert!(matches!(kind(bools(&a)?.mm(&bools(&b)?)), ErrorKind::DTypeNotSupported { .. }));
    assert!(matches!(kind(ones(&[3, 4])?.addmm(&a, &b)), ErrorKind::UnequalSizes { arg: "self", .. }));
    assert!(ones(&[4])?.addmm_(&a, &b).is_err(), "in place nothing broadcasts");
    assert!(ops::mm_out(&a, &b, &mut ones(&[2, 4])?.to(DType::F64)?).is_err());
    assert!(ops::mm_out(&a, &b, &mut ones(&[1])?.expand((2, 4))?).is_err(), "elements that are one");
    assert_eq!(meta::mm(&a, &b)?.sizes(), [2, 4]);
    Ok(())
}

fn by_name(name: &str, arguments: Vec<IValue>) -> Result<Vec<f64>> {
    let mut stack = arguments;
    call(name, &mut stack)?;
    let result = stack.remove(0).into_tensor().expect("a tensor");
    result.downcast::<Cpu>().expect("on the CPU").to(DType::F64)?.to_vec::<f64>()
}

fn any(t: &Tensor<Cpu>) -> IValue {
    t.clone().into_any().into()
}

#[test]
fn equations_are_sums_of_products() -> Result<()> {
    let mut random = Random::new(13);
    let f = |sizes: &[i64], random: &mut Random| integers(DType::F64, Layout::Contiguous, sizes, random);
    let (a, b) = (f(&[2, 3, 4], &mut random), f(&[2, 5, 4], &mut random));
    let einsum = |equation: &str, all: &[&Tensor<Cpu>], path: IValue| {
        let tensors: Vec<AnyTensor> = all.iter().map(|t| (*t).clone().into_any()).collect();
        by_name("einsum", vec![IValue::Str(equation.into()), IValue::Tensors(tensors), path])
    };
    let want = a.bmm(&b.transpose(1, 2)?)?.to_vec::<f64>()?;
    assert_eq!(einsum("bij,bkj->bik", &[&a, &b], IValue::None)?, want);
    assert_eq!(einsum("...ij, ...kj -> ...ik", &[&a, &b], IValue::None)?, want);
    assert_eq!(einsum("bij,bkj->bik", &[&a, &b], IValue::Ints(vec![0, 1]))?, want);
    let square = f(&[3, 3], &mut random);
    let elements = square.to_vec::<f64>()?;
    assert_eq!(einsum("ii", &[&square], IValue::None)?, [elements[0] + elements[4] + elements[8]]);
    assert_eq!(einsum("ii->i", &[&square], IValue::None)?, [elements[0], elements[4], elements[8]]);
    assert_eq!(einsum("ab->ba", &[&square], IValue::None)?, square.transpose(0, 1)?.to_vec::<f64>()?);
    let chain = square.mm(&square)?.mm(&square)?.to_vec::<f64>()?;
    assert_eq!(einsum("ij,jk,kl", &[&square, &square, &square], IValue::None)?, chain);
    assert_eq!(einsum("ij,jk,kl", &[&square, &square, &square], IValue::Ints(vec![1, 2, 0, 1]))?, chain);
    for wrong in ["ij,jk", "ij->k", "i->i", "iji", "i.j", "ij->ii", "i,j,k"] {
        assert!(einsum(wrong, &[&square], IValue::None).is_err(), "{wrong}");
    }
    assert!(einsum("ij,jk", &[&square, &a], IValue::None).is_err());
    assert!(einsum("ij,jk", &[&square, &square], IValue::Ints(vec![0, 5])).is_err());
    Ok(())
}

/// Where dimensions of the second operand come first, its product with the first is computed, which lies as wanted.
#[test]
fn einsum_gives_row_major_results_in_either_order() -> Result<()> {
    let mut random = Random::new(14);
    let [a, b] = [4, 5].map(|n| integers(DType::F64, Layout::Contiguous, &[2, 3, n], &mut random));
    let einsum = |equation: &str| -> Result<Tensor<Cpu>> {
        let tensors = IValue::Tensors(vec![a.clone().into_any(), b.clone().into_any()]);
        let mut stack = vec![IValue::Str(equation.into()), tensors, IValue::None];
        call("einsum", &mut stack)?;
        Ok(stack.remove(0).into_tensor().unwrap().downcast::<Cpu>().unwrap())
    };
    let forth = einsum("bln,blp->bnp")?;
    let back = einsum("bln,blp->bpn")?;
    assert_eq!((back.sizes(), back.strides()), (&[2, 5, 4][..], &[20, 4, 1][..]));
    assert_eq!(back.to_vec::<f64>()?, forth.transpose(1, 2)?.to_vec::<f64>()?);
    Ok(())
}

/// Products in groups are those of their parts, and groups that do not fit are refused.
#[test]
fn groups_are_products_of_their_own() -> Result<()> {
    let mut random = Random::new(15);
    let f = |sizes: &[i64], random: &mut Random| integers(DType::F32, Layout::Contiguous, sizes, random);
    let (rows, experts) = (f(&[8, 4], &mut random), f(&[3, 4, 12], &mut random));
    let offs = t![2i32, 2, 7];
    let (dispatcher, _libraries) = super::composites::dispatcher();
    let grouped = |name: &str, tensors: [&Tensor<Cpu>; 3]| -> Result<Tensor<Cpu>> {
        let mut stack: Vec<IValue> = tensors.iter().map(|t| any(t)).collect();
        if !name.contains("::") {
            stack.extend([IValue::None, IValue::None]);
        }
        dispatcher.find(name)?.call(&mut stack)?;
        Ok(stack.remove(0).into_tensor().unwrap().downcast::<Cpu>().unwrap())
    };
    for name in ["_grouped_mm", "transformers::grouped_mm_fallback"] {
        let product = grouped(name, [&rows, &experts, &offs])?;
        assert_eq!(product.i(0..2)?.to_vec::<f32>()?, rows.i(0..2)?.mm(&experts.i(0)?)?.to_vec::<f32>()?, "{name}");
        assert_eq!(product.i(2..7)?.to_vec::<f32>()?, rows.i(2..7)?.mm(&experts.i(2)?)?.to_vec::<f32>()?, "{name}");
        assert_eq!(product.i(7)?.to_vec::<f32>()?, [0.0; 12], "{name}");
        for wrong in [t![2i32, 1, 7], t![2i32, 2, 9], t![-1i32, 2, 7], t![2i32, 7]] {
            assert!(grouped(name, [&rows, &experts, &wrong]).is_err(), "{name}");
        }
        assert!(grouped(name, [&rows, &experts.transpose(1, 2)?, &offs]).is_err(), "{name}");
    }
    let matrix = f(&[4, 8], &mut random);
    let columns = grouped("_grouped_mm", [&experts.transpose(1, 2)?, &matrix, &offs])?;
    let want = experts.i(2)?.t()?.mm(&matrix.i((.., 2..7))?)?;
    assert_eq!(columns.i((.., 2..7))?.to_vec::<f32>()?, want.to_vec::<f32>()?);
    let terms = grouped("_grouped_mm", [&matrix, &rows, &offs])?;
    let want = matrix.i((.., 2..7))?.mm(&rows.i(2..7)?)?;
    assert_eq!((terms.sizes(), terms.i(2)?.to_vec::<f32>()?), (&[3, 4, 4][..], want.to_vec::<f32>()?));
    assert_eq!(terms.i(1)?.to_vec::<f32>()?, [0.0; 16]);
    Ok(())
}

#[test]
fn sums_over_chosen_dimensions() -> Result<()> {
    let (a, b) = (t![[1.0f64, 2.0], [3.0, 4.0]], t![[5.0f64, 6.0], [7.0, 8.0]]);
    let dims = |dims: &[i64]| IValue::Ints(dims.to_vec());
    assert_eq!(by_name("tensordot", vec![any(&a), any(&b), dims(&[0, 1]), dims(&[0, 1])])?, [70.0]);
    assert_eq!(by_name("inner", vec![any(&a), any(&b)])?, [17.0, 23.0, 39.0, 53.0]);
    assert_eq!(by_name("linalg_vecdot", vec![any(&a), any(&b), (-1i64).into()])?, [17.0, 53.0]);
    assert_eq!(by_name("kron", vec![any(&a), any(&t![[1.0f64, 10.0]])])?, [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0]);
    let list = |all: &[&Tensor<Cpu>]| vec![IValue::Tensors(all.iter().map(|t| (*t).clone().into_any()).collect())];
    let (row, column) = (t![1.0f64, 1.0], t![1.0f64, 2.0]);
    assert_eq!(by_name("linalg_multi_dot", list(&[&row, &a, &b, &column]))?, [206.0]);
    assert_eq!(by_name("chain_matmul", list(&[&a, &b, &a]))?, a.mm(&b)?.mm(&a)?.to_vec::<f64>()?);
    let numbers = [1i64.into(), 2i64.into()];
    let addr = [any(&t![[1.0f64]]), any(&row), any(&column)].into_iter().chain(numbers.clone()).collect();
    assert_eq!(by_name("addr", addr)?, [3.0, 5.0, 3.0, 5.0]);
    let batch = a.unsqueeze(0)?.expand((3, 2, 2))?;
    let addbmm = [any(&b), any(&batch), any(&batch)].into_iter().chain(numbers).collect();
    assert_eq!(by_name("addbmm", addbmm)?, [47.0, 66.0, 97.0, 140.0]);
    let weight = b.unsqueeze(0)?;
    assert_eq!(by_name("bilinear", vec![any(&a), any(&a), any(&weight), IValue::None])?, [63.0, 329.0]);
    Ok(())
}

#[test]
fn layers_add_their_bias_on_every_path() -> Result<()> {
    let (x, weight, bias) = (t![[[1.0f32, 2.0]], [[3.0, 4.0]]], t![[1.0f32, 0.0], [0.0, 10.0]], t![0.5f32, 0.25]);
    let want = [1.5, 20.25, 3.5, 40.25];
    assert_eq!(ops::linear(&x, &weight, Some(&bias))?.to_vec::<f32>()?, want);
    let strided = x.transpose(0, 1)?;
    assert_eq!(ops::linear(&strided, &weight, Some(&bias))?.to_vec::<f32>()?, want);
    assert_eq!(ops::linear(&x.view((2, 2))?, &weight, Some(&bias))?.to_vec::<f32>()?, want);
    assert_eq!(ops::linear(&x, &weight, None)?.to_vec::<f32>()?, [1.0, 20.0, 3.0, 40.0]);
    assert!(ops::linear(&x, &x, None).is_err());
    Ok(())
}

#[test]
fn distances_of_every_order() -> Result<()> {
    let (a, b) = (t![[0.0f64, 0.0], [1.0, 1.0]], t![[3.0f64, 4.0]]);
    let with = |p: f64, mode: i64| by_name("cdist", vec![any(&a), any(&b), p.into(), mode.into()]);
    assert_eq!(with(1.0, 0)?, [7.0, 5.0]);
    assert_eq!(with(2.0, 2)?, [5.0, 13f64.sqrt()]);
    assert_eq!(with(2.0, 1)?, [5.0, 13f64.sqrt()]);
    assert_eq!(with(f64::INFINITY, 0)?, [4.0, 3.0]);
    assert_eq!(with(0.0, 0)?, [2.0, 2.0]);
    assert!(with(-1.0, 0).is_err());
    let (grad, distances) = (t![[1.0f64], [1.0]], t![[5.0f64], [13f64.sqrt()]]);
    let backward = vec![any(&grad), any(&a), any(&b), 2.0.into(), any(&distances)];
    let got = by_name("_cdist_backward", backward)?;
    let root = 13f64.sqrt();
    for (got, want) in got.iter().zip([-0.6, -0.8, -2.0 / root, -3.0 / root]) {
        assert!((got - want).abs() < 1e-12, "{got} for {want}");
    }
    Ok(())
}

#[test]
fn indices_of_rows_and_back() -> Result<()> {
    let rows = t![0i64, 0, 2];
    assert_eq!(
        by_name("_convert_indices_from_coo_to_csr", vec![any(&rows), 4i64.into(), false.into()])?,
        [0.0, 2.0, 2.0, 3.0, 3.0]
    );
    let (begins, columns) = (t![0i64, 2, 2, 3], t![1i64, 0, 2]);
    let back = |turn: bool| {
        by_name("_convert_indices_from_csr_to_coo", vec![any(&begins), any(&columns), false.into(), turn.into()])
    };
    assert_eq!(back(false)?, [0.0, 0.0, 2.0, 1.0, 0.0, 2.0]);
    assert_eq!(back(true)?, [1.0, 0.0, 2.0, 0.0, 0.0, 2.0]);
    Ok(())
}

/// In place `addbmm` enlarges a tensor that is broadcast, and what views of it see stays as it was.
#[test]
fn addbmm_enlarges_its_tensor() -> Result<()> {
    let (a, b) = (t![[[1.0f32], [2.0]]], t![[[1.0f32, 10.0]]]);
    for sizes in [&[][..], &[1], &[2], &[1, 2], &[2, 1], &[2, 2]] {
        let mut sum = ops::ones(sizes, F32)?;
        let view = sum.clone();
        sum.addbmm_with_(&a, &b, Addbmm { beta: 10.into(), ..Default::default() })?;
        assert_eq!((sum.sizes(), sum.to_vec::<f32>()?), (&[2, 2][..], vec![11.0, 20.0, 12.0, 30.0]));
        assert_eq!((view.sizes(), view.reshape(-1)?.at::<f32>(0)?), (sizes, 11.0));
    }
    for sizes in [&[3][..], &[1, 2, 2]] {
        let mut sum = ops::ones(sizes, F32)?;
        assert!(sum.addbmm_(&a, &b).is_err());
        assert_eq!((sum.sizes(), sum.sum(..)?.at::<f32>(())?), (sizes, sizes.iter().product::<i64>() as f32));
    }
    Ok(())
}
