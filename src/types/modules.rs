//! Files to one list of declarations.
//!
//! In: the main file and a loader for the files that it opens. Out: every declaration of the library, the
//! opened files and the main file, each after those it may use, with the names that are visible to it.
//! Reports cycles, repeated declarations and hidden library names.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Decl, Module, Name, OpenWhat, TypeDecl};

/// The M-tilde library of 001 Figure 4 and what the paper's programs use beside it.
pub const LINALG: &str = include_str!("linalg.smooth");
/// What a source map calls it.
pub const LIBRARY: &str = "linalg";

/// Reads a file that an `open` names: (path as written, name of the opening file) to (name, text), or why not.
pub type Loader<'a> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'a;

/// One declaration and where it stands.
pub struct Global {
    pub decl: Decl,
    pub file: usize,
    /// The number of the first declaration of its `let rec … and …`.
    pub group: Option<usize>,
}

/// A type declaration and where it stands.
pub struct TypeGlobal {
    pub decl: TypeDecl,
    pub file: usize,
}

/// All declarations of a program.
#[derive(Default)]
pub struct Modules {
    /// Callees before callers.
    pub globals: Vec<Global>,
    /// The records, those of opened files first.
    pub types: Vec<TypeGlobal>,
    /// The names each file declares, and the files each file opens, later ones first.
    names: Vec<HashMap<Rc<str>, usize>>,
    opens: Vec<Vec<usize>>,
    pub main: usize,
    /// The texts whose names are not known: what does not parse, and what declares a name that its file has already.
    pub unread: Vec<Span>,
}

impl Modules {
    /// What a name means in the declaration number `at`: one before it in its file, itself or one beside it where they are
    /// recursive, or one of an opened file.
    pub fn lookup(&self, name: &str, at: usize) -> Option<usize> {
        let Global { file, group, .. } = *self.globals.get(at)?;
        if let Some(index) = self.names[file].get(name)
            && (*index < at || group.is_some() && self.globals[*index].group == group)
        {
            return Some(*index);
        }
        self.opens[file].iter().find_map(|open| self.names[*open].get(name).copied())
    }

    /// Whether a file opens another one.
    pub fn opens_file(&self, file: usize, other: usize) -> bool {
        self.opens.get(file).is_some_and(|opens| opens.contains(&other))
    }

    /// A declaration of the library, whatever hides it.
    pub fn library(&self, name: &str) -> Option<usize> {
        self.names.first()?.get(name).copied()
    }

    /// A later declaration of that name in the same file, or itself.
    pub fn declared_later(&self, name: &str, at: usize) -> Option<usize> {
        self.names[self.globals.get(at)?.file].get(name).copied()
    }

    /// The declarations of the main file.
    pub fn main_globals(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.globals.len()).filter(|index| self.globals[*index].file == self.main)
    }

    /// All names that the declaration number `at` could use, for suggestions.
    pub fn visible(&self, at: usize) -> Vec<Rc<str>> {
        self.globals.iter().take(at).map(|global| global.decl.name.text.clone()).collect()
    }
}

/// The library, and a main file of this one declaration.
pub fn with_library(sources: &mut SourceMap, decl: Decl) -> (Modules, Diagnostics) {
    let library = sources.open(LIBRARY, LINALG);
    let load = &mut |_: &str, _: &str| Err("an expression opens no file".to_string());
    let mut loading = Loading { sources, load, modules: Modules::default(), diagnostics: Vec::new(), files: HashMap::new() };
    loading.file(library, None);
    let main = loading.modules.names.len();
    loading.modules.opens.push(vec![0]);
    loading.modules.names.push(HashMap::from([(decl.name.text.clone(), loading.modules.globals.len())]));
    loading.modules.globals.push(Global { decl, file: main, group: None });
    loading.modules.main = main;
    (loading.modules, loading.diagnostics)
}

/// The names that the library declares.
pub fn library_names() -> Vec<Rc<str>> {
    let (module, _) = crate::syntax::parse_recovering(LINALG, Span::NONE.file);
    module.decls.into_iter().map(|decl| decl.name.text).collect()
}

thread_local! {
    /// The library's tree, with the number of its file: a process that types more than one program parses it once.
    static PARSED: RefCell<Option<(u32, Module)>> = const { RefCell::new(None) };
}

/// The tree of the library as the file of a number; a test holds that it has no errors.
fn parsed_library(number: u32) -> Module {
    PARSED.with_borrow_mut(|parsed| match parsed {
        Some((known, module)) if *known == number => module.clone(),
        _ => {
            let (module, _) = crate::syntax::parse_recovering(LINALG, number);
            *parsed = Some((number, module.clone()));
            module
        }
    })
}

struct Loading<'a, 'l> {
    sources: &'a mut SourceMap,
    load: &'a mut Loader<'l>,
    modules: Modules,
    diagnostics: Diagnostics,
    /// Files by name: done, or being loaded.
    files: HashMap<String, Option<usize>>,
}

/// Parses the main file, the library and everything that is opened.
pub fn load(sources: &mut SourceMap, main: u32, load: &mut Loader) -> (Modules, Diagnostics) {
    let library = sources.open(LIBRARY, LINALG);
    let name = sources.files[main as usize].name.to_string();
    let mut loading = Loading { sources, load, modules: Modules::default(), diagnostics: Vec::new(), files: HashMap::new() };
    loading.file(library, None);
    loading.files.insert(name.clone(), None);
    let file = loading.file(main, Some(&name));
    loading.modules.main = file;
    (loading.modules, loading.diagnostics)
}

impl Loading<'_, '_> {
    /// Adds a file and what it opens; `name` is `None` for the library.
    fn file(&mut self, number: u32, name: Option<&str>) -> usize {
        let module = match name {
            None => parsed_library(number),
            Some(_) => {
                let text = self.sources.files[number as usize].text.clone();
                let (module, errors) = crate::syntax::parse_recovering(&text, number);
                self.diagnostics.extend(errors);
                module
            }
        };
        let mut opens = Vec::new();
        for open in &module.opens {
            match &open.what {
                OpenWhat::Library(library) if &**library == "linalg" => {}
                OpenWhat::Library(library) => self.diagnostics.push(
                    Diagnostic::error("E0003", open.span, format!("unknown library `{library}`"))
                        .help("the only library is `linalg`, open by default; write a file's name in quotes"),
                ),
                OpenWhat::File(path) => opens.extend(self.open(path, name.unwrap_or_default(), open.span)),
            }
        }
        opens.reverse();
        let file = self.modules.names.len();
        if name.is_some() {
            opens.push(0);
        }
        self.modules.opens.push(opens);
        self.modules.names.push(HashMap::new());
        self.no_repeats(&module);
        self.modules.unread.extend(&module.unread);
        self.modules.types.extend(module.types.into_iter().map(|decl| TypeGlobal { decl, file }));
        for decl in module.decls {
            self.declare(decl, file);
        }
        file
    }

    fn open(&mut self, path: &str, from: &str, span: Span) -> Option<usize> {
        let (name, text) = match (self.load)(path, from) {
            Ok(loaded) => loaded,
            Err(reason) => {
                self.diagnostics.push(
                    Diagnostic::error("E0004", span, format!("cannot open `{path}`: {reason}"))
                        .help("the path is relative to the file that opens it"),
                );
                return None;
            }
        };
        match self.files.get(&name) {
            Some(Some(done)) => return Some(*done),
            Some(None) => {
                self.diagnostics.push(
                    Diagnostic::error("E0005", span, format!("`{path}` is opened by a file that it opens itself"))
                        .help("move what both need into a third file"),
                );
                return None;
            }
            None => {}
        }
        self.files.insert(name.clone(), None);
        let number = self.sources.open(&name, &text);
        let file = self.file(number, Some(&name));
        self.files.insert(name, Some(file));
        Some(file)
    }

    /// Reports the names that a file declares twice, also where a declaration did not parse.
    fn no_repeats(&mut self, module: &Module) {
        self.no_name_twice(module.types.iter().map(|decl| &decl.name).collect());
        self.no_name_twice(module.decls.iter().map(|decl| &decl.name).chain(&module.broken).collect());
    }

    fn no_name_twice(&mut self, mut names: Vec<&Name>) {
        names.sort_by_key(|name| name.span.start);
        let mut first: HashMap<&str, Span> = HashMap::new();
        for name in names {
            let known = *first.entry(&name.text).or_insert(name.span);
            if known != name.span {
                self.diagnostics.push(
                    Diagnostic::error("E0201", name.span, format!("`{}` is declared twice", name.text))
                        .label(known, "first declared here")
                        .help("rename one of them"),
                );
            }
        }
    }

    fn declare(&mut self, decl: Decl, file: usize) {
        let name = decl.name.text.clone();
        if self.modules.names[file].contains_key(&name) {
            self.modules.unread.push(decl.span);
            return;
        }
        if file != 0 && self.modules.names[0].contains_key(&name) {
            self.diagnostics.push(Diagnostic {
                severity: Severity::Warning,
                ..Diagnostic::error("W0202", decl.name.span, format!("`{name}` hides the library function of that name"))
                    .help("rename it if the library's is meant elsewhere in this file")
            });
        }
        let index = self.modules.globals.len();
        let before = self.modules.globals.last().filter(|before| before.file == file).and_then(|before| before.group);
        let group = decl.recursion.as_ref().map(|recursion| if recursion.continues { before.unwrap_or(index) } else { index });
        self.modules.names[file].insert(name, index);
        self.modules.globals.push(Global { decl, file, group });
    }
}
