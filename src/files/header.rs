//! The header of an array of NumPy: a dictionary of Python with the kind of elements, their order and the sizes.

use crate::DType;

/// The kinds of elements that both have, as `descr` names them without the byte order.
const KINDS: [(&str, DType); 11] = [
    ("b1", DType::Bool),
    ("u1", DType::U8),
    ("i1", DType::I8),
    ("i2", DType::I16),
    ("i4", DType::I32),
    ("i8", DType::I64),
    ("f2", DType::F16),
    ("f4", DType::F32),
    ("f8", DType::F64),
    ("c8", DType::C64),
    ("c16", DType::C128),
];

/// How `descr` names the elements of a dtype.
pub(super) fn of_dtype(dtype: DType) -> Option<&'static str> {
    KINDS.iter().find(|(_, own)| *own == dtype).map(|(kind, _)| *kind)
}

/// What a header says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) is_big_endian: bool,
    pub(super) columns_first: bool,
    pub(super) sizes: Vec<i64>,
}

impl Header {
    pub(super) fn parse(text: &str) -> Result<Header, String> {
        let (mut elements, mut columns_first, mut sizes) = (None, None, None);
        let mut rest = Rest(text);
        rest.expect('{')?;
        while !rest.eat('}') {
            let key = rest.string()?;
            rest.expect(':')?;
            match key {
                "descr" if rest.eat('[') => return Err("an array of records; arrays of numbers are read".to_owned()),
                "descr" => elements = Some(kind(rest.string()?)?),
                "fortran_order" => columns_first = Some(rest.truth()?),
                "shape" => sizes = Some(rest.sizes()?),
                _ => return Err(format!("the header has the key {key}")),
            }
            if !rest.eat(',') {
                rest.expect('}')?;
                break;
            }
        }
        let missing = |key: &str| format!("the header has no {key}");
        let (is_big_endian, dtype) = elements.ok_or_else(|| missing("descr"))?;
        Ok(Header {
            dtype,
            is_big_endian,
            columns_first: columns_first.ok_or_else(|| missing("fortran_order"))?,
            sizes: sizes.ok_or_else(|| missing("shape"))?,
        })
    }

    /// How many bytes the elements take, if that is a number.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.sizes.iter().try_fold(self.dtype.size() as u64, |bytes, &size| bytes.checked_mul(size.try_into().ok()?))
    }
}

/// The byte order and the dtype.
fn kind(text: &str) -> Result<(bool, DType), String> {
    let known = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
    let dtype = KINDS.iter().find(|(kind, _)| *kind == known).map(|(_, dtype)| *dtype);
    let read = "bool, uint8, int8 to int64, float16 to float64 and complex numbers are read";
    let dtype = dtype.ok_or_else(|| format!("elements of the kind {text}; {read}"))?;
    let is_big_endian = if text.starts_with(['<', '>']) { text.starts_with('>') } else { cfg!(target_endian = "big") };
    Ok((is_big_endian, dtype))
}

/// What has not been read yet.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn eat(&mut self, token: char) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: char) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("the header has no {token} where one is expected")) }
    }

    fn string(&mut self) -> Result<&'t str, String> {
        let quote = if self.eat('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect(quote)?;
        }
        let (text, rest) = self.0.split_once(quote).ok_or("the header has text without an end")?;
        self.0 = rest;
        Ok(text)
    }

    /// The letters and digits that follow.
    fn word(&mut self) -> &'t str {
        self.0 = self.0.trim_start();
        let end = self.0.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn truth(&mut self) -> Result<bool, String> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            other => Err(format!("fortran_order is {other}; True or False are accepted")),
        }
    }

    fn sizes(&mut self) -> Result<Vec<i64>, String> {
        self.expect('(')?;
        let mut sizes = Vec::new();
        while !self.eat(')') {
            let size = self.word();
            // Python 2 wrote long integers with an L.
            let number = size.trim_end_matches('L').parse::<i64>();
            sizes.push(number.map_err(|_| format!("shape has {size}; whole numbers of 0 or more are accepted"))?);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }
}
