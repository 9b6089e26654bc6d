//! The command `monomorph`: looks at programs that `torch.export` wrote, runs them on arrays in files, and checks them.
//! Owns the command line; what is read, run and judged is the library's.
#![forbid(unsafe_code)]

mod array;
mod inspect;
mod run;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use std::process::ExitCode;

fn command() -> Command {
    let program = || {
        Arg::new("program").value_name("PROGRAM.pt2").required(true).value_parser(value_parser!(PathBuf)).help("an archive of torch.export.save")
    };
    let input = || {
        Arg::new("input").long("input").short('i').value_name("FILE.npy|NUMBER").action(ArgAction::Append).help(
            "an input, in the program's order: an array, or an int, float, true, false or none",
        )
    };
    Command::new("monomorph")
        .about("Exported PyTorch programs: inspect, run, check")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("inspect")
                .about("What a program is: inputs, outputs, weights, operators")
                .arg(program())
                .arg(Arg::new("graph").long("graph").action(ArgAction::SetTrue).help("print every node"))
                .arg(Arg::new("weights").long("weights").action(ArgAction::SetTrue).help("print every weight")),
        )
        .subcommand(
            Command::new("run")
                .about("Run a program on arrays")
                .arg(program())
                .arg(input())
                .arg(
                    Arg::new("output")
                        .long("output")
                        .short('o')
                        .value_name("DIR")
                        .value_parser(value_parser!(PathBuf))
                        .help("where to write outputs as 0.npy, 1.npy, …; without it they are printed"),
                ),
        )
        .subcommand(
            Command::new("check")
                .about("Check that a program loads; with inputs, that every value is as the program records it")
                .arg(program())
                .arg(input()),
        )
}

fn main() -> ExitCode {
    let matches = command().get_matches();
    match dispatch(&matches) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("monomorph: {problem}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(matches: &ArgMatches) -> Result<bool, String> {
    let Some((name, args)) = matches.subcommand() else { return Err("no command".to_owned()) };
    let path = args.get_one::<PathBuf>("program").ok_or("no program")?;
    let program = monomorph::program::Program::load(path).map_err(|error| error.to_string())?;
    let texts = || args.get_many::<String>("input").into_iter().flatten().map(String::as_str);
    match name {
        "inspect" => {
            print!("{}", inspect::text(&program, args.get_flag("graph"), args.get_flag("weights")));
            Ok(true)
        }
        "run" => run::run(&program, texts(), args.get_one::<PathBuf>("output").map(PathBuf::as_path)),
        _ => run::check(&program, texts()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_holds_together() {
        super::command().debug_assert();
    }
}
