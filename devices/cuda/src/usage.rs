//! What a kernel makes of the machine, read from the assembler's report and from the intermediate code. Owns the
//! reading; refuses to judge.

use crate::nvrtc::Compiled;

/// The resources of one kernel, and how it reaches memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of stack of a thread, its callees' included.
    pub stack: u32,
    /// Bytes written to the stack because registers ran out, and read from it.
    pub spills: [u32; 2],
    /// Loads from global memory: those of 16 bytes, and others.
    pub loads: [usize; 2],
    /// Stores to global memory: those of 16 bytes, and others.
    pub stores: [usize; 2],
    /// The instructions that reach memory by an address of no stated kind.
    pub generic: Vec<String>,
    /// Whether a large angle is reduced by the bits of 2/pi, for which CUDA's own functions use an array on the stack.
    pub reduces_angles: bool,
}

impl Usage {
    /// The usage of kernel `name`; `None` if it was not compiled, or the assembler does not report it.
    pub fn of(compiled: &Compiled, name: &str) -> Option<Usage> {
        let mut usage = report(&compiled.log, name)?;
        let entry = body(&compiled.ptx, &format!(".entry {name}("))?;
        for line in entry.lines() {
            usage.read(line);
        }
        // What it calls reaches memory for it.
        for line in entry.lines().filter(|line| line.contains("call")) {
            callee(&compiled.ptx, entry, line).into_iter().flat_map(str::lines).for_each(|line| usage.read(line));
        }
        Some(usage)
    }

    /// Takes one instruction into account.
    fn read(&mut self, line: &str) {
        self.reduces_angles |= line.contains("__cudart_i2opi");
        // A predicate may come first.
        let Some(instruction) = line.split_whitespace().find(|word| !word.starts_with('@')) else { return };
        let mut parts = instruction.trim_end_matches(';').split('.');
        let kind = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        if !matches!(kind, "ld" | "st" | "atom" | "red") {
            return;
        }
        let state = ["global", "shared", "local", "param", "const"]
            .into_iter()
            .find(|&state| rest.iter().any(|part| part.split("::").next() == Some(state)));
        let wide = usize::from(!is_word(&rest));
        match (kind, state) {
            (_, None) => self.generic.push(line.trim().to_owned()),
            ("ld", Some("global")) => self.loads[wide] += 1,
            ("st", Some("global")) => self.stores[wide] += 1,
            _ => {}
        }
    }
}

/// Whether these qualifiers are of an access to 16 bytes.
fn is_word(qualifiers: &[&str]) -> bool {
    let lanes = if qualifiers.contains(&"v4") {
        4
    } else if qualifiers.contains(&"v2") {
        2
    } else {
        1
    };
    let bits =
        qualifiers.last().and_then(|last| last.trim_start_matches(char::is_alphabetic).parse().ok()).unwrap_or(0);
    lanes * bits == 128
}

/// From the assembler's report: stack, spills and registers.
fn report(log: &str, name: &str) -> Option<Usage> {
    let start = log.find(&format!("Compiling entry function '{name}'"))?;
    let own = &log[start..];
    let own = own.get(1..).and_then(|rest| rest.find("Compiling entry function")).map_or(own, |end| &own[..=end]);
    let number_before = |what: &str| -> Option<u32> {
        let (before, _) = own.split_once(what)?;
        before.rsplit(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
    };
    let frame = number_before(" bytes stack frame")?;
    Some(Usage {
        registers: number_before(" registers")?,
        stack: number_before(" bytes cumulative stack size").unwrap_or(0).max(frame),
        spills: [number_before(" bytes spill stores")?, number_before(" bytes spill loads")?],
        ..Usage::default()
    })
}

/// The text of a function of the intermediate code, from its head to the brace that closes it.
fn body<'a>(ptx: &'a str, head: &str) -> Option<&'a str> {
    let text = &ptx[ptx.find(head)?..];
    // Inner blocks are indented.
    Some(text.find("\n}").map_or(text, |end| &text[..end]))
}

/// The text of the function that a `call` names: on that line or the lines behind it.
fn callee<'a>(ptx: &'a str, entry: &str, call: &str) -> Option<&'a str> {
    let from = call.as_ptr() as usize - entry.as_ptr() as usize;
    let name = entry[from..]
        .split(['(', ')', ',', ';'])
        .flat_map(str::split_whitespace)
        .find(|word| word.starts_with("__"))?;
    ptx.match_indices(&format!("{name}(")).map(|(at, _)| &ptx[at..]).find_map(|text| {
        let open = text.find("\n{")?;
        let is_definition = !text[..open].contains(';');
        is_definition.then(|| text.find("\n}").map_or(text, |end| &text[..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Function properties for b
ptxas         .     40 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 26 registers, used 0 barriers, 48 bytes cumulative stack size
ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 0 barriers
";

    const PTX: &str = "\
.func (.param .b64 r) __slow(
	.param .b64 p
)
;
.visible .entry b(
	.param .u64 q
)
{
	ld.param.u64 	%rd3, [q];
	@%p1 ld.global.v4.u32 	{%r1, %r2, %r3, %r4}, [%rd1];
	ld.u32 	%r5, [%rd1];
	st.global.v2.f64 	[%rd1], {%fd1, %fd2};
	st.global.v2.f32 	[%rd1], {%f1, %f2};
	{
	call.uni (retval0),
	__slow,
	(param0);
	}
}
.visible .entry a(
)
{
	ret;
}
.func (.param .b64 r) __slow(
	.param .b64 p
)
{
	mov.u64 %rd1, __cudart_i2opi_d;
	st.local.u64 [%rd1], %rd2;
}
";

    fn compiled() -> Compiled {
        Compiled { cubin: Vec::new(), ptx: PTX.to_owned(), log: LOG.to_owned() }
    }

    #[test]
    fn resources_and_accesses_are_read() {
        let b = Usage::of(&compiled(), "b").unwrap();
        assert_eq!((b.registers, b.stack, b.spills), (26, 48, [8, 12]));
        assert_eq!((b.loads, b.stores), ([1, 0], [1, 1]));
        assert_eq!(b.generic, ["ld.u32 \t%r5, [%rd1];"]);
        assert!(b.reduces_angles);
        let a = Usage::of(&compiled(), "a").unwrap();
        assert_eq!(a, Usage { registers: 14, ..Usage::default() });
        assert_eq!(Usage::of(&compiled(), "c"), None);
    }
}
