//! docs/cli.md against the definition of the command line: every command, argument and option has a row with its own help.
//!
//! In: the parser's definition, `smoothc::cli::command()`. Out: the part of docs/cli.md below its mark, which is compared with the
//! file; `UPDATE_DOCS=1 cargo test --test suite cli_page::` writes it. The commands that the page shows are run by `tests/suite/readme.rs`.

use clap::{Arg, ArgAction, Command};
use smoothc::toolchain::compiler::{Arithmetic, Mode};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
const MARK: &str = "<!-- from here on: UPDATE_DOCS=1 cargo test --test suite cli_page:: -->\n";

/// The commands that take a program with all options of a compilation.
const COMPILING: [&str; 8] = ["emit", "check", "eval", "run", "build", "gradcheck", "bench", "explain"];

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// `-o`, `--output PATH`, or `FILE` for a word without a dash.
fn spelled(arg: &Arg) -> String {
    let value = arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let value = if matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::Help | ArgAction::Version) { String::new() } else { value };
    let dashed = |name: String| format!("`{}`", cell(format!("{name} {value}").trim_end()));
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("`-{short}`, {}", dashed(format!("--{long}"))),
        (Some(short), None) => dashed(format!("-{short}")),
        (None, Some(long)) => dashed(format!("--{long}")),
        (None, None) => format!("`{value}`"),
    }
}

fn row(arg: &Arg) -> String {
    let mut help = arg.get_help().unwrap_or_else(|| panic!("{} has no help", arg.get_id())).to_string();
    let words: Vec<String> = arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if !words.is_empty() && !matches!(arg.get_action(), ArgAction::SetTrue) {
        help += &format!(": {}", words.join(", "));
    }
    let default: Vec<String> = arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if !default.is_empty() && default != ["``"] && !matches!(arg.get_action(), ArgAction::SetTrue) {
        help += &format!(" (default {})", default.join(" "));
    }
    format!("| {} | {} |\n", spelled(arg), cell(&help))
}

fn table(args: &[&Arg]) -> String {
    let rows: String = args.iter().map(|arg| row(arg)).collect();
    if rows.is_empty() { "No words or options of its own.\n".into() } else { format!("| | |\n| --- | --- |\n{rows}") }
}

fn reference() -> String {
    let mut all = smoothc::cli::command();
    all.build();
    let find = |name: &str| all.get_subcommands().find(|command| command.get_name() == name).unwrap_or_else(|| panic!("no {name}"));
    let is_said = |arg: &&Arg| !matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong);
    let global: Vec<&Arg> = all.get_arguments().filter(is_said).collect();
    let is_global = |arg: &Arg| global.iter().any(|other| other.get_id() == arg.get_id());
    let own = |command: &Command, arg: &Arg| command.get_arguments().any(|other| other.get_id() == arg.get_id());
    // what all commands that compile have, but for the file, whose meaning differs in `explain` and `eval`
    let shared: Vec<&Arg> = find(COMPILING[0])
        .get_arguments()
        .filter(|arg| !arg.is_positional() && !is_global(arg) && is_said(arg) && COMPILING.iter().all(|name| own(find(name), arg)))
        .collect();
    let is_shared = |arg: &Arg| shared.iter().any(|other| other.get_id() == arg.get_id());
    let mut text = format!("## Options of every command\n\n{}", table(&global));
    let names = COMPILING.map(|name| format!("`{name}`")).join(", ");
    text += &format!("\n## Options of a compilation\n\n{names} take:\n\n{}", table(&shared));
    let mut commands: Vec<&Command> = all.get_subcommands().filter(|command| command.get_name() != "help").collect();
    commands.sort_by_key(|command| command.get_name());
    for command in commands {
        let name = command.get_name();
        let compiles = COMPILING.contains(&name);
        let about = command.get_about().unwrap_or_else(|| panic!("{name} has no help")).to_string();
        let args: Vec<&Arg> =
            command.get_arguments().filter(|arg| is_said(arg) && !is_global(arg) && !(compiles && is_shared(arg))).collect();
        let (words, options): (Vec<&Arg>, Vec<&Arg>) = args.into_iter().partition(|arg| arg.is_positional());
        text += &format!("\n## smoothc {name}\n\n{}.\n\n{}", cell(&about), table(&[words, options].concat()));
    }
    text
}

#[test]
fn every_flag_of_the_c_compiler_is_in_the_page() {
    let page = std::fs::read_to_string(PAGE).expect("a page");
    for arithmetic in [Arithmetic::Fast, Arithmetic::Strict] {
        let flags = Mode { arithmetic, parallel: true, ..Mode::default() }.flags();
        assert!(flags.len() > 5, "{flags:?}");
        for flag in flags {
            assert!(page.contains(flag), "docs/cli.md has no {flag}");
        }
    }
}

#[test]
fn every_word_and_option_of_the_command_line_is_in_the_page() {
    let page = std::fs::read_to_string(PAGE).expect("a page");
    let (head, _) = page.split_once(MARK).expect("the mark");
    let truth = format!("{head}{MARK}\n{}", reference());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return std::fs::write(PAGE, truth).expect("writes");
    }
    assert_eq!(page, truth, "UPDATE_DOCS=1 cargo test --test suite cli_page:: writes it");
}
