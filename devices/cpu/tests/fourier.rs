//! Fourier transforms on several threads.

use monomorph_core::structured::{FromArgs, Functional, call};
use monomorph_core::{Complex64, Result, Tensor};
use monomorph_cpu::Cpu;
use monomorph_ops::fourier::{Fourier, FourierInputs, OfComplex, OfReal, ToReal, Transform};

fn transformed<T: Transform>(x: &Tensor<Cpu>, dims: &[i64], argument: T::Argument) -> Result<Tensor<Cpu>>
where
    Cpu: monomorph_core::structured::Executes<Fourier<T>>,
{
    let inputs = FourierInputs::<T>::from_args((x, dims, 1, argument))?;
    let [output] = call::<Fourier<T>, Cpu, _>(&inputs, Functional::default())?;
    Ok(output)
}

fn bits() -> Result<Vec<Vec<u64>>> {
    let numbers: Vec<Complex64> = (0..300 * 400).map(|i| Complex64::new((i % 97) as f64, (i % 89) as f64)).collect();
    let x = Tensor::<Cpu>::from_vec(numbers, (300, 400))?;
    let real = Tensor::<Cpu>::from_vec((0..300 * 400).map(|i| (i % 97) as f64).collect::<Vec<_>>(), (300, 400))?;
    let half = transformed::<OfReal>(&real, &[1], true)?;
    let complex = [
        transformed::<OfComplex>(&x, &[1], true)?,
        transformed::<OfComplex>(&x, &[0, 1], false)?,
        transformed::<OfReal>(&real, &[0, 1], false)?,
    ];
    let mut all =
        vec![transformed::<ToReal>(&half, &[0, 1], 400)?.to_vec::<f64>()?.into_iter().map(f64::to_bits).collect()];
    for t in &complex {
        all.push(t.to_vec::<Complex64>()?.into_iter().flat_map(|x| [x.re.to_bits(), x.im.to_bits()]).collect());
    }
    Ok(all)
}

#[test]
fn the_number_of_threads_changes_no_bit() -> Result<()> {
    // A thread of a pool works alone.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool").install(bits)?;
    assert!(bits()? == alone);
    Ok(())
}
