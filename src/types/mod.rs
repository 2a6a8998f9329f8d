//! Types and sizes: from syntax trees to the core language.
//!
//! In: the main file and what it opens. Out: a core [`Program`] of monomorphic first-order functions, the
//! inferred signature of each declaration, warnings. Four steps:
//!
//! 1. `modules` lists all declarations, each with the names it can see; of the library those that `mentioned` finds.
//! 2. `infer` gives each its polymorphic type (`expression`, `expectation`, `annotation`; `ty`, `type_groups`, `holes`, `deferred`, `show`,
//!    `builtin`, `forms`).
//! 3. `elaborate` makes core functions for the entries and whatever they use (`application`, `operator`, `pattern`, `record` with
//!    `fields`, `slice`, `special` with `entry` and `nested`, `canonical`, `shapes`; over `scope`, `making` and `told`), and turns the
//!    differentiation API into `dual` and `vjp` (`derive`).
//! 4. `library` describes the library's functions. `signature` prints what was inferred; `unused` warns of names that nothing uses,
//!    `slopes` of roots that have no derivative at 0.
//!
//!     let sq x = x * x   →   sq (x: Double) : Double = x * x

mod annotation;
mod application;
mod arguments;
mod bounded;
mod builtin;
mod canonical;
mod counted;
mod deferred;
mod derive;
mod elaborate;
mod entry;
mod env;
mod exhaustive;
mod expectation;
mod expression;
mod fields;
mod forms;
mod free;
mod habits;
mod holes;
mod infer;
mod lengths;
mod library;
mod making;
mod matching;
mod mentioned;
pub mod modules;
mod nested;
mod operator;
mod passed;
mod pattern;
mod record;
mod recursion;
mod scope;
mod self_calls;
mod shapes;
mod show;
mod signature;
mod slice;
mod slopes;
mod special;
mod specialise;
mod suggest;
mod sum;
mod tail;
mod told;
mod ty;
mod type_groups;
mod unused;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::ir::{Program, Var};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Module;

pub use derive::{Derive, Kind, Parameters};
pub use free::{Free, NAME as EXPRESSION, expression};
pub use library::{Described, built_in, library};
pub use mentioned::{LIBRARY, LINALG};
pub use modules::Loader;
pub use signature::Signature;
pub use specialise::FixedSize;

use elaborate::Elaborator;
use modules::Library;
use scope::Instance;
use ty::{Class, Ty};

/// Whether a name is a built-in function or differentiation form, where no declaration has it.
pub fn is_built_in_function(name: &str) -> bool {
    builtin::lookup(name).is_some()
}

/// Whether a name is a built-in Double, where nothing else has it.
pub fn is_built_in_constant(name: &str) -> bool {
    builtin::constant(name).is_some()
}

/// What the command line asks of this stage.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The entries; all first-order declarations of the main file when empty.
    pub entries: Vec<String>,
    pub derives: Vec<Derive>,
    /// Sizes that are literals.
    pub sizes: Vec<FixedSize>,
    /// The gradient in a Double is a `vjp` too, where a direction is as good: for who looks at how derivatives go back.
    pub keep_gradients: bool,
    /// Whether branches of sums have each other's lengths in the data of cases that they never are. Checks of lengths may then fail where
    /// they hold without.
    pub shares_lengths: bool,
}

/// A typed program.
#[derive(Debug)]
pub struct Elaborated {
    /// The entries and what they use, callees before callers.
    pub program: Program,
    pub warnings: Diagnostics,
    /// One for each declaration of the main file, then one for each derived entry.
    pub signatures: Vec<Signature>,
    /// What only data says of the lengths in sums.
    pub of_data: LengthsOfData,
    /// The parameters that `decreases` names.
    pub measures: Vec<Var>,
}

/// By the name of each function: what only data says of the lengths in its sums.
pub type LengthsOfData = IndexMap<Rc<str>, OfData>;

/// What only data says of the lengths in sums.
#[derive(Clone, Debug, Default)]
pub struct OfData {
    /// The choices between values of sum types whose lengths only data decides: no target has them.
    pub choices: Vec<Span>,
    /// Where lengths are compared, but for those in the data of a case inside of its row: these are the value's own, whatever length the
    /// data of other cases have.
    pub compared: HashSet<Span>,
}

/// What is known of a program that may have errors: for who shows it while it is written.
#[derive(Debug)]
pub struct Surveyed {
    /// The entries and what they use, where there is no error.
    pub program: Option<Program>,
    /// Errors and warnings, by place.
    pub diagnostics: Diagnostics,
    /// Those of the declarations without errors.
    pub signatures: Vec<Signature>,
    /// The types of the local names of the main file, by the place of the pattern.
    pub names: Vec<(Span, String)>,
    /// For each literal, field, copy and pattern of a record, by its place, where the name of the record's type is declared.
    pub records: HashMap<Span, Span>,
    /// As in [`Elaborated`].
    pub of_data: LengthsOfData,
    /// As in [`Elaborated`].
    pub measures: Vec<Var>,
}

/// Types a program. `main` is the number of the main file in `sources`, `tree` its tree where it is parsed already; `load` reads the
/// files it opens.
pub fn elaborate(
    sources: &mut SourceMap,
    main: u32,
    tree: Option<Module>,
    load: &mut Loader,
    options: &Options,
) -> Result<Elaborated, Diagnostics> {
    let mut typed_with = |tree, library| {
        let (modules, diagnostics) = modules::load(sources, main, tree, library, load);
        typed(sources, &modules, diagnostics, options, None)
    };
    let mut surveyed = typed_with(tree, Library::Mentioned);
    if surveyed.program.is_none() {
        // a message may suggest any name of the library
        surveyed = typed_with(None, Library::Whole);
    }
    match surveyed.program {
        Some(program) => {
            let Surveyed { diagnostics: warnings, signatures, of_data, measures, .. } = surveyed;
            Ok(Elaborated { program, warnings, signatures, of_data, measures })
        }
        None => Err(surveyed.diagnostics),
    }
}

/// Types a program as [`elaborate`] does, and says what it knows in spite of errors; with the declarations of all files.
pub fn survey(sources: &mut SourceMap, main: u32, load: &mut Loader, options: &Options) -> (Surveyed, modules::Modules) {
    let (modules, diagnostics) = modules::load(sources, main, None, Library::Whole, load);
    (typed(sources, &modules, diagnostics, options, Some(main)), modules)
}

/// Types the declarations of all files; `names_of` is the file whose local names are wanted with their types.
fn typed(
    sources: &SourceMap,
    modules: &modules::Modules,
    mut diagnostics: Diagnostics,
    options: &Options,
    names_of: Option<u32>,
) -> Surveyed {
    let infer = infer::infer(modules);
    let sound = modules.globals.iter().zip(&infer.schemes).filter(|(_, scheme)| !scheme.broken);
    diagnostics.extend(sound.filter(|(global, _)| global.file != 0).flat_map(|(global, _)| unused::unused(&global.decl)));
    let mut elaborator = Elaborator::new(&infer, modules);
    elaborator.keep_gradients = options.keep_gradients;
    elaborator.shares_lengths = options.shares_lengths;
    elaborator.promised = options.derives.iter().map(Derive::entry).collect();
    let mut entries: Vec<(usize, Rc<str>)> = Vec::new();
    let mut signatures = Vec::new();
    for index in modules.main_globals() {
        if infer.schemes[index].broken {
            continue;
        }
        let instance = closed(&infer, index);
        let function = instance.as_ref().and_then(|instance| elaborator.entry(index, instance).ok());
        if let Some(function) = function.as_ref().and_then(|name| elaborator.program.functions.get_mut(name)) {
            let scheme = &infer.schemes[index];
            let decl = &modules.globals[index].decl;
            let patterns = infer::parameters(&decl.params, &decl.body).0.iter().map(Some).chain(std::iter::repeat(None));
            let params = scheme.params.iter().zip(patterns).map(|(ty, pattern)| (record::labels(&infer.holes.resolve(ty)), pattern));
            function.labels = params.map(|(labels, pattern)| pattern::labels(pattern, labels)).collect();
            function.labels.push(record::labels(&infer.holes.resolve(&scheme.result)));
        }
        let name = modules.globals[index].decl.name.text.clone();
        let wanted = if options.entries.is_empty() { !name.starts_with('_') } else { options.entries.iter().any(|entry| **entry == *name) };
        signatures.push(signature::of(&infer, modules, index, function.as_ref().and_then(|name| elaborator.program.functions.get(name))));
        if let Some(function) = function.filter(|_| wanted) {
            entries.push((index, function));
        }
    }
    // where `--entry` names derived entries, the others are none
    let derived: Vec<String> = options.derives.iter().map(Derive::entry).collect();
    let is_chosen = |name: &str| {
        let mut chosen = options.entries.iter().filter(|entry| derived.contains(entry)).peekable();
        chosen.peek().is_none() || chosen.any(|entry| **entry == *name)
    };
    // what is in a text that did not parse may be declared there
    let may_be = |name: &str| modules.unread.iter().any(|text| sources.word(*text, name).is_some());
    for (at, derive) in options.derives.iter().enumerate() {
        if options.derives[..at].contains(derive) {
            continue;
        }
        let Some(index) = modules.main_globals().find(|index| *modules.globals[*index].decl.name.text == *derive.function) else {
            if !may_be(&derive.function) {
                diagnostics.push(unknown_entry(modules, &derive.function, "--derive"));
            }
            continue;
        };
        match closed(&infer, index) {
            Some(instance) if !infer.schemes[index].broken => {
                if let Ok(name) = elaborator.derived_entry(index, &instance, derive) {
                    signatures.extend(
                        elaborator.program.functions.get(&name).map(|function| signature::of_derived(&infer, modules, index, function)),
                    );
                    if is_chosen(&name) {
                        entries.push((index, name));
                    }
                }
            }
            _ if infer.schemes[index].broken => {}
            _ => diagnostics.push(not_closed(&infer, modules, index, "derived")),
        }
    }
    for entry in &options.entries {
        let known = modules.main_globals().find(|index| *modules.globals[*index].decl.name.text == **entry);
        match known {
            None if derived.contains(entry) || may_be(entry) => {}
            None => diagnostics.push(unknown_entry(modules, entry, "--entry")),
            Some(index) if !infer.schemes[index].broken && closed(&infer, index).is_none() => {
                diagnostics.push(not_closed(&infer, modules, index, "an entry"));
            }
            Some(_) => {}
        }
    }
    // a declaration that did not parse is no unknown name
    let unparsed = diagnostics.iter().any(|diagnostic| diagnostic.code.starts_with("E01") || diagnostic.code.starts_with("E000"));
    let texts: Vec<&str> = sources.files.iter().map(|file| &*file.text).collect();
    let follows = |diagnostic: &&Diagnostic| unparsed && is_written(&texts, diagnostic);
    diagnostics.extend(infer.diagnostics.iter().filter(|diagnostic| !follows(diagnostic)).cloned());
    diagnostics.extend(std::mem::take(&mut elaborator.diagnostics));
    explain_phrases(modules, &texts, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
    let names = names_of.map(|file| infer.local_names(file)).unwrap_or_default();
    let records = match names_of {
        Some(_) => infer.notes.records.iter().map(|(span, record)| (*span, record.name.span)).collect(),
        None => HashMap::new(),
    };
    let mut surveyed =
        Surveyed { program: None, diagnostics, signatures, names, records, of_data: LengthsOfData::default(), measures: Vec::new() };
    if surveyed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return surveyed;
    }
    let mut program = elaborator.program;
    for (_, name) in &entries {
        if let Some(function) = program.functions.get_mut(name) {
            function.is_entry = true;
        }
    }
    let (mut of_data, measures) = (elaborator.of_data, elaborator.measures);
    let mut program = program.without_unreachable();
    tail::make_loops(&mut program);
    sum::read_own_cases(&mut program);
    let program = program.without_unreachable();
    of_data.retain(|name, _| program.functions.contains_key(name));
    surveyed.diagnostics.extend(slopes::infinite(&program, modules.library));
    surveyed.diagnostics.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
    let (program, changed) = match specialise::specialise(program, &options.sizes) {
        Ok(specialised) => specialised,
        Err(diagnostics) => return Surveyed { diagnostics, ..surveyed },
    };
    for signature in &mut surveyed.signatures {
        if let Some(function) = program.functions.get(&*signature.name).filter(|function| changed.contains(&function.name)) {
            signature.renew(&infer, function);
        }
    }
    Surveyed { program: Some(program), of_data, measures, ..surveyed }
}

/// Where a declaration has errors of names and types and a phrase of another language, the phrase is what is wrong.
fn explain_phrases(modules: &modules::Modules, texts: &[&str], diagnostics: &mut Diagnostics) {
    let place = |span: Span| (span.file, span.start);
    let is_meant = |error: &Diagnostic| error.code == "E0202" || error.code.starts_with("E03");
    let mut errors: Vec<Span> = diagnostics.iter().filter(|error| is_meant(error)).map(|error| error.span).collect();
    errors.sort_by_key(|span| place(*span));
    let mut explained = Vec::new();
    for span in modules.globals.iter().filter(|global| global.file != 0).map(|global| global.decl.span) {
        let [first, end] = [span.start, span.end].map(|at| errors.partition_point(|error| place(*error) < (span.file, at)));
        let text = texts.get(span.file as usize).and_then(|text| text.get(span.start as usize..span.end as usize));
        let inside = errors.get(first..end).filter(|inside| !inside.is_empty()).zip(text);
        explained.extend(inside.and_then(|(errors, text)| crate::syntax::explain_phrase(text, span, errors)).map(|said| (span, said)));
    }
    explained.sort_by_key(|(span, _)| place(*span));
    diagnostics.retain(|error| {
        let before = explained.partition_point(|(span, _)| place(*span) <= place(error.span)).checked_sub(1);
        let around =
            before.and_then(|at| explained.get(at)).filter(|(span, _)| span.file == error.span.file && error.span.start < span.end);
        // another unknown name is an error of its own
        let follows = |(said, binds): &(Diagnostic, bool)| {
            let overlaps = error.span.start < said.span.end && said.span.start < error.span.end;
            is_meant(error) && (*binds || overlaps || error.code != "E0202")
        };
        !around.is_some_and(|(_, said)| follows(said))
    });
    diagnostics.extend(explained.into_iter().map(|(_, (said, _))| said));
}

/// Whether some file has a `let` or a `type`, as the message needs it, of the name that it quotes.
fn is_written(texts: &[&str], diagnostic: &Diagnostic) -> bool {
    let name = diagnostic.message.split('`').nth(1).unwrap_or_default();
    let begins: &[&str] = match diagnostic.code {
        "E0202" => &["let rec ", "let ", "and "],
        "E0113" => &["type ", "and "],
        _ => return false,
    };
    texts.iter().any(|text| {
        text.lines().any(|line| {
            let declared = begins.iter().find_map(|begin| line.strip_prefix(begin));
            declared.is_some_and(|rest| rest.trim_start().starts_with(name))
        })
    })
}

/// What a declaration's holes are when it is an entry: open numbers are Doubles. `None` when it has a function
/// among its parameters or its type stays open.
fn closed(infer: &infer::Infer, index: usize) -> Option<Instance> {
    let scheme = &infer.schemes[index];
    let first_order = |ty: &Ty| !contains_function(&infer.holes.resolve(ty));
    if !scheme.params.iter().chain([&scheme.result]).all(first_order) {
        return None;
    }
    let mut instance = Vec::new();
    for id in scheme.params.iter().flat_map(|param| infer.holes.open(param)) {
        if infer.holes.class(id) == Class::Any {
            return None;
        }
        instance.push((id, Ty::Double));
    }
    Some(Rc::new(instance))
}

/// Why a declaration is no entry and has no derived one.
fn not_closed(infer: &infer::Infer, modules: &modules::Modules, index: usize, what: &str) -> Diagnostic {
    let (name, scheme) = (&modules.globals[index].decl.name, &infer.schemes[index]);
    let takes_function = scheme.params.iter().chain([&scheme.result]).any(|ty| contains_function(&infer.holes.resolve(ty)));
    let (why, help) = match takes_function {
        true => ("a function is among its parameters", "declare a function that passes it one: `let g x = f sin x`"),
        false => ("its type is open", "annotate its parameters"),
    };
    Diagnostic::error("E0206", name.span, format!("`{}` cannot be {what}: {why}", name.text)).help(help)
}

fn contains_function(ty: &Ty) -> bool {
    match ty {
        Ty::Fun(..) => true,
        Ty::Array(element, _) => contains_function(element),
        Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().any(contains_function),
        Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Hole(_) => false,
    }
}

fn unknown_entry(modules: &modules::Modules, name: &str, option: &str) -> Diagnostic {
    let known: Vec<String> = modules.main_globals().map(|index| format!("`{}`", modules.globals[index].decl.name.text)).collect();
    let help = if known.is_empty() { "the file declares nothing".to_string() } else { format!("the file declares {}", known.join(", ")) };
    Diagnostic::error("E0205", Span::NONE, format!("`{option} {name}` names no declaration of the file")).help(help)
}
