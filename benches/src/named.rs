//! The arguments of a call by name, as a request writes them: `named:` and words with commas between. Owns the words;
//! what stands for which argument is decided by who asks.
//!
//! ```text
//! t p u a w b      an operand of the request's dtype around zero, above zero, between 0 and 1, above 1, around zero
//!                  and small; of dtype bool
//! t@4096x8         the same, dense and of these sizes, whatever the request's are
//! i=100@4096x8     int64 from 0 to 99; without `@` of the request's sizes
//! r=100            so many numbers of the request's dtype in ascending order
//! [i=9;i=9]        a list of tensors
//! out=DTYPE        a tensor of the request's sizes, to be written
//! d                the request's dtype
//! 2 1.5 true none s=floor l=0+1 l=true+false
//! ```

use crate::serve::{Work, sizes};
use crate::{Data, Domain, hash};
use monomorph::ops::{options::To, to_with};
use monomorph::{AnyTensor, Cpu, DType, IValue, Stack, Tensor};

/// The arguments that the words stand for.
///
/// # Errors
/// A word that is none of these.
pub fn arguments(work: &Work, words: &str) -> Result<Stack, String> {
    let count = words.split(',').filter(|word| domain(word).is_some()).count();
    let mut index = 0;
    words
        .split(',')
        .map(|word| {
            if let Some(domain) = domain(word) {
                index += 1;
                let operand = work.layout.operand(Data { dtype: work.dtype, domain }, &work.sizes, index - 1, count);
                return operand.map(IValue::from).map_err(|error| error.to_string());
            }
            let list = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            match list {
                Some(items) => {
                    let items = items.split(';').enumerate().map(|(i, item)| {
                        dense(work, item, i as u32)?.ok_or_else(|| format!("{item} stands for no tensor"))
                    });
                    items.collect::<Result<_, _>>().map(IValue::Tensors)
                }
                None if word == "d" => Ok(work.dtype.into()),
                None => dense(work, word, 2)?.map_or_else(|| value(word), |tensor| Ok(tensor.into())),
            }
        })
        .collect()
}

fn domain(word: &str) -> Option<Domain> {
    match word {
        "t" => Some(Domain::Signed),
        "p" => Some(Domain::Positive),
        "u" => Some(Domain::Unit),
        "a" => Some(Domain::AboveOne),
        "w" => Some(Domain::Weights),
        _ => None,
    }
}

/// A tensor that does not lie as the request's layout says.
fn dense(work: &Work, word: &str, seed: u32) -> Result<Option<AnyTensor>, String> {
    let (what, sizes) = match word.split_once('@') {
        Some((what, text)) => (what, sizes(text)?),
        None => (word, work.sizes.clone()),
    };
    let number = |text: &str| text.parse::<i64>().map_err(|_| format!("{text} is no number"));
    let made = match (what, domain(what), what.split_once('=')) {
        ("b", ..) => Ok(Data::signed(DType::Bool).tensor(&sizes, seed)),
        (_, Some(domain), _) => Ok(Data { dtype: work.dtype, domain }.tensor(&sizes, seed)),
        (.., Some(("i", limit))) => {
            let (limit, n) = (number(limit)?, sizes.iter().product::<i64>());
            let indices: Vec<i64> = (0..n).map(|i| i64::from(hash(i as u32, seed)) % limit.max(1)).collect();
            Tensor::<Cpu>::from_slice(&indices, &*sizes)
        }
        (.., Some(("r", n))) => {
            let n = number(n)?;
            let numbers: Vec<f32> = (0..n).map(|i| i as f32 * (8.0 / n as f32) - 4.0).collect();
            Tensor::<Cpu>::from_slice(&numbers, n).and_then(|t| to_with(&t, work.dtype, To::default()))
        }
        (.., Some(("out", dtype))) => {
            let dtype = DType::from_name(dtype).ok_or_else(|| format!("{dtype} is no dtype"))?;
            Tensor::<Cpu>::zeros_contiguous(dtype, &sizes)
        }
        _ => return Ok(None),
    };
    made.map(|tensor| Some(tensor.into_any())).map_err(|error| error.to_string())
}

fn value(word: &str) -> Result<IValue, String> {
    let number = || word.parse().map(IValue::Int).or_else(|_| word.parse().map(IValue::Float));
    let unknown = || format!("{word} stands for no argument");
    match (word, word.split_once('=')) {
        ("none", _) => Ok(IValue::None),
        ("true", _) => Ok(IValue::Bool(true)),
        ("false", _) => Ok(IValue::Bool(false)),
        (_, Some(("s", text))) => Ok(IValue::Str(text.into())),
        (_, Some(("l", list))) => {
            let items = || list.split('+');
            let numbers = || items().map(str::parse).collect::<Result<Vec<i64>, _>>().map(IValue::Ints);
            let flags = items().map(str::parse).collect::<Result<Vec<bool>, _>>().map(IValue::Bools);
            flags.or_else(|_| numbers()).map_err(|_| unknown())
        }
        _ => number().map_err(|_| unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_arguments() {
        let work = Work::parse("x int32 row-broadcast 4x6 out").expect("well formed");
        let stack = arguments(&work, "t,b,p,2,1.5,true,none,s=floor,out=float64,t@3,i=5@2x2,[i=3@7;i=2],l=0+-1,r=4")
            .expect("well formed");
        let tensor = |value: &IValue| match value {
            IValue::Tensor(t) => (t.dtype(), t.sizes().to_vec()),
            other => panic!("{other:?}"),
        };
        assert_eq!(tensor(&stack[0]), (DType::I32, vec![4, 6]));
        assert_eq!(tensor(&stack[1]), (DType::Bool, vec![4, 6]));
        assert_eq!(tensor(&stack[2]), (DType::I32, vec![6]), "the last operand is the one row");
        assert_eq!(tensor(&stack[8]), (DType::F64, vec![4, 6]));
        assert_eq!(tensor(&stack[9]), (DType::I32, vec![3]));
        assert_eq!(tensor(&stack[10]), (DType::I64, vec![2, 2]));
        let IValue::Tensors(list) = &stack[11] else { panic!("{:?}", stack[11]) };
        assert_eq!(list.iter().map(|t| t.sizes().to_vec()).collect::<Vec<_>>(), [vec![7], vec![4, 6]]);
        let IValue::Tensor(ascending) = &stack[13] else { panic!("{:?}", stack[13]) };
        assert_eq!(ascending.downcast_ref::<Cpu>().unwrap().to_vec::<i32>().unwrap(), [-4, -2, 0, 2]);
        let rest = [IValue::Int(2), IValue::Float(1.5), IValue::Bool(true), IValue::None, IValue::Str("floor".into())];
        assert_eq!(format!("{:?}", &stack[3..8]), format!("{rest:?}"));
        assert_eq!(format!("{:?}", stack[12]), format!("{:?}", IValue::Ints(vec![0, -1])));
        for bad in ["", "x", "out=f32", "t,,t", "i=a", "t@", "[2]", "l=x"] {
            assert!(arguments(&work, bad).is_err(), "{bad}");
        }
    }
}
