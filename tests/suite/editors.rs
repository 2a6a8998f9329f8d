//! What `editors/` has: the words that it highlights are the language's, the VS Code folder loads, Pygments and tree-sitter read every
//! example. A tool that is not here is named.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use smoothc::syntax::{BUILT_IN_TYPES, RESERVED};

use crate::support::blocks;
use crate::support::tools::{exists, skipped, succeeds};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(path: &str) -> String {
    fs::read_to_string(format!("{ROOT}/editors/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn words<'a>(all: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    all.into_iter().map(str::to_string).collect()
}

/// The words that a file must know: reserved, types, built-in functions, constants.
fn language() -> [BTreeSet<String>; 4] {
    let (constants, functions): (Vec<_>, Vec<_>) = smoothc::types::built_in().into_iter().partition(|known| known.signature == "Double");
    let mut functions = words(functions.iter().map(|known| &*known.name));
    // a reserved word
    functions.remove("not");
    [words(RESERVED), words(BUILT_IN_TYPES), functions, words(constants.iter().map(|known| &*known.name))]
}

/// The quoted words of a part of a file.
fn quoted(text: &str, from: &str, to: &str) -> BTreeSet<String> {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    let part = &text[start..start + text[start..].find(to).unwrap_or_else(|| panic!("no {to}"))];
    words(part.split('"').skip(1).step_by(2))
}

#[test]
fn grammars_have_the_words_of_the_language() {
    let [reserved, types, functions, constants] = language();
    let grammar = json("textmate/smooth.tmLanguage.json");
    let patterns = grammar["repository"]["expression"]["patterns"].as_array().expect("patterns");
    let named = |name: &str| {
        let pattern = patterns.iter().find(|pattern| pattern["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        let text = pattern["match"].as_str().expect("a pattern");
        let list = text.rsplit("(?:").next().and_then(|rest| rest.split(')').next()).expect("a list");
        words(list.split('|'))
    };
    let of_reserved = [
        "keyword.control.smooth",
        "constant.language.boolean.smooth",
        "keyword.operator.derivative.smooth",
        "keyword.operator.word.smooth",
    ];
    assert_eq!(of_reserved.into_iter().flat_map(named).collect::<BTreeSet<String>>(), reserved);
    assert_eq!(named("storage.type.smooth"), types);
    assert_eq!(named("support.function.builtin.smooth"), functions);
    assert_eq!(named("constant.language.smooth"), constants);
    assert_eq!(read("vscode/smooth.tmLanguage.json"), read("textmate/smooth.tmLanguage.json"));

    let lexer = read("pygments/smooth_lexer.py");
    let mut known = quoted(&lexer, "KEYWORDS = (", ")\n");
    known.extend(words(["true", "false"]));
    assert_eq!(known, reserved);
    assert_eq!(quoted(&lexer, "TYPES = (", ")\n"), types);
    assert_eq!(quoted(&lexer, "BUILT_IN = (", ")\n"), functions);
    assert_eq!(quoted(&lexer, "CONSTANTS = (", ")\n"), &constants | &words(["true", "false"]));

    let grammar = read("tree-sitter/grammar.js");
    let mut known = quoted(&grammar, "keyword: ($) => choice(", "),\n");
    known.extend(words(["let", "rec", "type", "open", "fun", "true", "false"]));
    assert_eq!(known, reserved);
    assert_eq!(quoted(&grammar, "built_in_type: ($) => choice(", "),\n"), types);
    assert_eq!(quoted(&grammar, "built_in_function: ($) => choice(", "),\n"), functions);
    assert_eq!(quoted(&grammar, "constant: ($) => choice(", "),\n"), constants);

    // that of the book; each list is its words in quoted lines
    let script = read("../docs/fsmooth.js");
    let listed =
        |key: &str| -> BTreeSet<String> { quoted(&script, key, ",\n  ").iter().flat_map(|line| words(line.split_whitespace())).collect() };
    let literals = words(["true", "false"]);
    assert_eq!(listed("\n    keyword:"), &reserved - &literals);
    assert_eq!(listed("\n    type:"), types);
    assert_eq!(listed("\n    built_in:"), functions);
    assert_eq!(listed("\n    literal:"), &constants | &literals);
}

/// Loads the extension with an editor and a client that only note what they are asked.
const LOAD: &str = r#"
const Module = require("module");
const load = Module._load;
const noted = { commands: [] };
const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (_, otherwise) => otherwise }),
    createFileSystemWatcher: () => ({}),
  },
  window: { showErrorMessage: () => undefined },
  commands: { registerCommand: (name) => (noted.commands.push(name), {}) },
};
class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(noted, { server, options });
  }
  start() { return Promise.resolve(); }
  stop() { return Promise.resolve(); }
}
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient, TransportKind: { stdio: 0 } } : load(name, ...rest);
const extension = require(process.argv[2]);
extension.activate({ subscriptions: [] }).then(() => {
  console.log(JSON.stringify({ command: noted.server.command, args: noted.server.args, language: noted.options.documentSelector, commands: noted.commands }));
  return extension.deactivate();
});
"#;

#[test]
fn the_folder_for_vs_code_loads() {
    let manifest = json("vscode/package.json");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let contributes = &manifest["contributes"];
    let files = contributes["languages"].as_array().expect("languages").iter().map(|language| &language["configuration"]);
    let files = files
        .chain(contributes["grammars"].as_array().expect("grammars").iter().map(|grammar| &grammar["path"]))
        .chain([&manifest["main"]]);
    for file in files {
        let path = PathBuf::from(ROOT).join("editors/vscode").join(file.as_str().expect("a path"));
        assert!(path.exists(), "{}", path.display());
    }
    json("vscode/language-configuration.json");
    let licence = fs::read_to_string(format!("{ROOT}/LICENSE-MIT")).expect("a licence");
    assert_eq!(read("vscode/LICENSE"), licence);
    if !exists("node") {
        skipped("there is no node here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("load.js");
    fs::write(&script, LOAD).expect("writes");
    let said =
        succeeds(Command::new("node").arg(script).arg(format!("{ROOT}/editors/vscode/extension.js"))).unwrap_or_else(|why| panic!("{why}"));
    let noted: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((noted["command"].as_str(), &noted["args"]), (Some("smoothc"), &serde_json::json!(["lsp"])));
    assert_eq!(noted["language"][0]["language"], "smooth");
    let declared = contributes["commands"].as_array().expect("commands").iter().map(|command| command["command"].clone());
    assert_eq!(noted["commands"], Value::Array(declared.collect()));
}

fn examples() -> Vec<PathBuf> {
    let folders = ["examples", "examples/evaluated", "examples/papers", "examples/stack", "examples/tour", "src/types"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(format!("{ROOT}/{folder}")).expect("a folder"));
    let files = files.map(|file| file.expect("a file").path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "smooth")).collect()
}

const LEX: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
from pygments.token import Error
from smooth_lexer import SmoothLexer
for path in sys.argv[2:]:
    text = open(path, encoding="utf-8").read()
    tokens = list(SmoothLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text, path
    wrong = [value for kind, value in tokens if kind in Error]
    assert not wrong, (path, wrong)
"#;

#[test]
fn pygments_reads_every_example() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python).args(["-c", "import pygments"]).output().is_ok_and(|output| output.status.success());
    if !has {
        skipped(&format!("`{python}` has no Pygments (`pip install pygments`); PYTHON may name one that has"));
        return;
    }
    let mut command = Command::new(&python);
    command.env("PYTHONDONTWRITEBYTECODE", "1").args(["-c", LEX]).arg(format!("{ROOT}/editors/pygments")).args(examples());
    succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"));
}

/// Helix looks for the grammar by the name of the language.
#[test]
fn the_page_names_one_language_and_grammar_for_helix() {
    let page = read("../docs/editors.md");
    let block = page.split_once("```toml\n").expect("a block").1.split_once("```").expect("an end").0;
    let grammar = json("tree-sitter/tree-sitter.json")["grammars"][0]["name"].as_str().expect("a name").to_string();
    for table in ["[[language]]", "[[grammar]]"] {
        assert!(block.contains(&format!("{table}\nname = \"{grammar}\"\n")), "{block}");
    }
    assert!(json("vscode/package.json")["scripts"]["package"].as_str().expect("a command").starts_with("npx --yes "));
}

/// How the names that themes of Helix give colours begin.
const HELIX: [&str; 9] = ["comment", "constant", "function", "keyword", "operator", "punctuation", "string", "type", "variable"];

#[test]
fn tree_sitter_reads_every_example() {
    if !exists("tree-sitter") {
        skipped("there is no tree-sitter here (`cargo install tree-sitter-cli`)");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("editors/tree-sitter");
    for file in ["grammar.js", "tree-sitter.json", "package.json", "src/scanner.c", "queries/highlights.scm", "queries/folds.scm"] {
        let to = own.join(file);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(format!("{ROOT}/editors/tree-sitter/{file}"), to).expect("copies");
    }
    // as the page says for Neovim and Helix, which themselves are not needed
    let install = |block: &str| {
        let mut command = blocks::command(block, folder.path());
        succeeds(command.env("HOME", folder.path())).unwrap_or_else(|why| panic!("{why}"));
    };
    install(&blocks::beginning("docs/editors.md", blocks::NEOVIM));
    install(&blocks::beginning("docs/editors.md", blocks::HELIX));
    let installed = |path: &str| fs::read_to_string(folder.path().join(".config").join(path)).unwrap_or_else(|why| panic!("{path}: {why}"));
    for library in ["nvim/parser", "helix/runtime/grammars"] {
        assert!(folder.path().join(".config").join(library).join("smooth.so").exists());
    }
    assert_eq!(installed("nvim/queries/smooth/highlights.scm"), read("tree-sitter/queries/highlights.scm"));
    let scopes = installed("helix/runtime/queries/smooth/highlights.scm");
    for name in scopes.split('@').skip(1).map(|rest| rest.split(|c: char| c.is_whitespace() || c == ')').next().unwrap_or_default()) {
        assert!(HELIX.contains(&name.split('.').next().unwrap_or_default()), "Helix knows no `{name}`");
    }
    let tree_sitter = |words: &[&str]| {
        let mut command = Command::new("tree-sitter");
        command.current_dir(&own).env("HOME", folder.path()).args(words);
        succeeds(&mut command)
    };
    for file in examples() {
        let file = file.display().to_string();
        tree_sitter(&["parse", "--quiet", &file]).unwrap_or_else(|why| panic!("{file}: {why}"));
        tree_sitter(&["query", "queries/highlights.scm", &file]).unwrap_or_else(|why| panic!("{file}: {why}"));
    }
}
