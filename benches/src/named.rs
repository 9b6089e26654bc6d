//! The arguments of a call by name, as a request writes them: `named:` and words with commas between. Owns the words;
//! what stands for which argument is decided by who asks.
//!
//! ```text
//! t p u a b        an operand of the request's dtype around zero, above zero, between 0 and 1, above 1; of dtype bool
//! out=DTYPE        a tensor of the request's sizes, to be written
//! 2 1.5 true none s=floor
//! ```

use crate::serve::Work;
use crate::{Data, Domain, Layout};
use monomorph::{Cpu, DType, IValue, Stack, Tensor};

/// The arguments that the words stand for.
///
/// # Errors
/// A word that is none of these.
pub fn arguments(work: &Work, words: &str) -> Result<Stack, String> {
    let count = words.split(',').filter(|word| domain(word).is_some()).count();
    let mut index = 0;
    let mut argument = |word: &str| {
        let made = match (word, domain(word), word.strip_prefix("out=")) {
            ("b", ..) => Layout::Contiguous.operand(Data::signed(DType::Bool), &work.sizes, 2, 3),
            (_, Some(domain), _) => {
                index += 1;
                work.layout.operand(Data { dtype: work.dtype, domain }, &work.sizes, index - 1, count)
            }
            (_, _, Some(dtype)) => {
                let dtype = DType::from_name(dtype).ok_or_else(|| format!("{dtype} is no dtype"))?;
                Tensor::<Cpu>::zeros_contiguous(dtype, &work.sizes)
            }
            _ => return value(word),
        };
        made.map(IValue::from).map_err(|error| error.to_string())
    };
    words.split(',').map(&mut argument).collect()
}

fn domain(word: &str) -> Option<Domain> {
    match word {
        "t" => Some(Domain::Signed),
        "p" => Some(Domain::Positive),
        "u" => Some(Domain::Unit),
        "a" => Some(Domain::AboveOne),
        _ => None,
    }
}

fn value(word: &str) -> Result<IValue, String> {
    let number = || word.parse().map(IValue::Int).or_else(|_| word.parse().map(IValue::Float));
    match (word, word.strip_prefix("s=")) {
        ("none", _) => Ok(IValue::None),
        ("true", _) => Ok(IValue::Bool(true)),
        ("false", _) => Ok(IValue::Bool(false)),
        (_, Some(text)) => Ok(IValue::Str(text.into())),
        _ => number().map_err(|_| format!("{word} stands for no argument")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_arguments() {
        let work = Work::parse("x int32 row-broadcast 4x6 out").expect("well formed");
        let stack = arguments(&work, "t,b,p,2,1.5,true,none,s=floor,out=float64").expect("well formed");
        let tensor = |i: usize| match &stack[i] {
            IValue::Tensor(t) => (t.dtype(), t.sizes().to_vec()),
            other => panic!("{other:?}"),
        };
        assert_eq!(tensor(0), (DType::I32, vec![4, 6]));
        assert_eq!(tensor(1), (DType::Bool, vec![4, 6]));
        assert_eq!(tensor(2), (DType::I32, vec![6]), "the last operand is the one row");
        assert_eq!(tensor(8), (DType::F64, vec![4, 6]));
        let rest = [IValue::Int(2), IValue::Float(1.5), IValue::Bool(true), IValue::None, IValue::Str("floor".into())];
        assert_eq!(format!("{:?}", &stack[3..8]), format!("{rest:?}"));
        for bad in ["", "x", "out=f32", "t,,t"] {
            assert!(arguments(&work, bad).is_err(), "{bad}");
        }
    }
}
