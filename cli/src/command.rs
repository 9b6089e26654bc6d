//! The command line: its commands, arguments and help.

use clap::{Arg, ArgAction, Command, value_parser};
use std::path::PathBuf;

pub(crate) fn command() -> Command {
    Command::new("monomorph")
        .about("Exported PyTorch programs: inspect, run, time, check")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(
            "In Python: torch.export.save(torch.export.export(model, (x,)), \"model.pt2\")\n\n\
             Exit codes: 0 if all is well; 1 if outputs or values differ from what is expected; 2 for an error.",
        )
        .subcommand(
            Command::new("inspect")
                .about("Print inputs, outputs, weights and operators")
                .arg(program())
                .arg(flag("graph", "Print every node instead"))
                .arg(flag("dot", "Print the graph in Graphviz's language instead"))
                .arg(flag("weights", "List every weight, too"))
                .arg(flag("plan", "Run it on inputs as for run, and say what a session keeps for later runs, too"))
                .arg(path("svg", "FILE.svg", "The same, and draw its memory over time"))
                .arg(input())
                .arg(number("seed", "SEED", "Draw inputs that are not given from this seed").default_value("0"))
                .arg(relaxed())
                .arg(threads()),
        )
        .subcommand(
            Command::new("run")
                .about("Run a program once")
                .arg(program())
                .arg(input())
                .arg(number("seed", "SEED", "Draw inputs that are not given: floats normal, integers 0 and 1"))
                .arg(
                    path(
                        "output",
                        "PATH",
                        "Write outputs: to a .safetensors or .npz file, or as .npy files to a directory",
                    )
                    .short('o'),
                )
                .arg(path("compare", "FILE", "Compare outputs with those of a .safetensors, .npz or .npy file"))
                .arg(tolerance("rtol", "1e-5", "What an element may be off, relative to the expected one"))
                .arg(tolerance("atol", "1e-5", "What an element may be off besides"))
                .arg(relaxed())
                .arg(threads()),
        )
        .subcommand(
            Command::new("bench")
                .about("Time a program: percentiles, and where the time goes")
                .arg(program())
                .arg(input())
                .arg(number("seed", "SEED", "Draw inputs that are not given from this seed").default_value("0"))
                .arg(number("runs", "N", "How many runs; 3 seconds, and 10 to 1000 runs, unless given"))
                .arg(number("top", "N", "How many rows a table has").default_value("15"))
                .arg(path("trace", "FILE.json", "Write one run for Chrome's trace viewer"))
                .arg(relaxed())
                .arg(threads()),
        )
        .subcommand(
            Command::new("check")
                .about("Run a program, and hold the dtype, sizes and strides of every value against what it records")
                .arg(program())
                .arg(input())
                .arg(number("seed", "SEED", "Draw inputs that are not given from this seed").default_value("0"))
                .arg(flag("relaxed", "Say how far outputs are from exact ones if batch norms are folded, too"))
                .arg(threads()),
        )
}

fn program() -> Arg {
    Arg::new("program")
        .value_name("PROGRAM.pt2")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("An archive of torch.export.save")
}

fn input() -> Arg {
    Arg::new("input").long("input").short('i').value_name("[NAME=]VALUE").action(ArgAction::Append).help(
        "An input by name, or the next one: an .npy file, a number, true, false, none; or an .npz or .safetensors \
             file with several, by names or as in.0, in.1",
    )
}

fn relaxed() -> Arg {
    flag("relaxed", "Fold batch norms, and take fewer products where windows are 3×3: faster, with other roundings")
}

fn threads() -> Arg {
    number("threads", "N", "How many threads; as many as there are processors unless given")
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn number(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(value_parser!(u64)).help(help)
}

fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(value_parser!(PathBuf)).help(help)
}

fn tolerance(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("X").value_parser(value_parser!(f64)).default_value(default).help(help)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_holds_together() {
        super::command().debug_assert();
    }
}
