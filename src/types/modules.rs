//! Files to one list of declarations.
//!
//! In: the main file and a loader for the files that it opens. Out: every declaration of the opened files and the
//! main file, and those of the library (all, or what these files can mention: `mentioned`), each after those it may
//! use, with the names that are visible to it.
//! Reports cycles, repeated declarations and hidden library names.

use std::collections::HashMap;
use std::rc::Rc;

use super::mentioned::{self, LIBRARY, LINALG};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Decl, Module, Name, OpenWhat, TypeDecl};

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
    /// The library's number in the source map.
    pub library: u32,
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
    pub fn in_library(&self, name: &str) -> Option<usize> {
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

/// How much of the library a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// What its texts can mention.
    Mentioned,
    /// All of it: for who shows names that a program might use.
    Whole,
}

/// The library, and a main file of this one declaration.
pub fn with_library(sources: &mut SourceMap, decl: Decl) -> (Modules, Diagnostics) {
    let library = sources.open(LIBRARY, LINALG);
    let load = &mut |_: &str, _: &str| Err("an expression opens no file".to_string());
    let mut loading = Loading { sources, load, read: Vec::new(), diagnostics: Vec::new(), files: HashMap::new() };
    loading.read.push(Read { module: Module { decls: vec![decl], ..Module::default() }, opens: vec![0] });
    loading.declared(library, Library::Whole)
}

/// A file's tree, and the numbers of the files that it opens: the library is 0, those that were read are 1, 2, ….
struct Read {
    module: Module,
    opens: Vec<usize>,
}

struct Loading<'a, 'l> {
    sources: &'a mut SourceMap,
    load: &'a mut Loader<'l>,
    /// Each after those that it opens.
    read: Vec<Read>,
    diagnostics: Diagnostics,
    /// Files by name: done, or being loaded.
    files: HashMap<String, Option<usize>>,
}

/// Parses the main file, if its tree is not given, everything that is opened and the library.
pub fn load(sources: &mut SourceMap, main: u32, tree: Option<Module>, library: Library, load: &mut Loader) -> (Modules, Diagnostics) {
    let number = sources.open(LIBRARY, LINALG);
    let name = sources.files[main as usize].name.to_string();
    let mut loading = Loading { sources, load, read: Vec::new(), diagnostics: Vec::new(), files: HashMap::new() };
    loading.files.insert(name.clone(), None);
    loading.file(main, &name, tree);
    loading.declared(number, library)
}

impl Loading<'_, '_> {
    /// Reads a file and what it opens.
    fn file(&mut self, number: u32, name: &str, tree: Option<Module>) -> usize {
        let module = tree.unwrap_or_else(|| {
            let text = self.sources.files[number as usize].text.clone();
            let (module, errors) = crate::syntax::parse_recovering(&text, number);
            self.diagnostics.extend(errors);
            module
        });
        let mut opens = Vec::new();
        for open in &module.opens {
            match &open.what {
                OpenWhat::Library(library) if &**library == "linalg" => {}
                OpenWhat::Library(library) => self.diagnostics.push(
                    Diagnostic::error("E0003", open.span, format!("unknown library `{library}`"))
                        .help("the only library is `linalg`, open by default; write a file's name in quotes"),
                ),
                OpenWhat::File(path) => opens.extend(self.open(path, name, open.span)),
            }
        }
        opens.reverse();
        opens.push(0);
        self.read.push(Read { module, opens });
        self.read.len()
    }

    /// The declarations of the library and of all files that were read, the last of which is the main file.
    fn declared(mut self, number: u32, library: Library) -> (Modules, Diagnostics) {
        let texts = self.sources.files.iter().enumerate().filter(|(at, _)| *at != number as usize).map(|(_, file)| &*file.text);
        let module = match library {
            Library::Mentioned => mentioned::library(number, texts),
            Library::Whole => mentioned::library(number, std::iter::once(LINALG)),
        };
        let mut modules = Modules { library: number, main: self.read.len(), ..Modules::default() };
        let library = Read { module, opens: Vec::new() };
        for Read { module, opens } in std::iter::once(library).chain(std::mem::take(&mut self.read)) {
            let file = modules.names.len();
            modules.opens.push(opens);
            modules.names.push(HashMap::new());
            self.no_repeats(&module);
            modules.unread.extend(&module.unread);
            modules.types.extend(module.types.into_iter().map(|decl| TypeGlobal { decl, file }));
            for decl in module.decls {
                self.declare(&mut modules, decl, file);
            }
        }
        (modules, self.diagnostics)
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
        let file = self.file(number, &name, None);
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

    fn declare(&mut self, modules: &mut Modules, decl: Decl, file: usize) {
        let name = decl.name.text.clone();
        if modules.names[file].contains_key(&name) {
            modules.unread.push(decl.span);
            return;
        }
        if file != 0 && modules.names[0].contains_key(&name) {
            self.diagnostics.push(Diagnostic {
                severity: Severity::Warning,
                ..Diagnostic::error("W0202", decl.name.span, format!("`{name}` hides the library function of that name"))
                    .help("rename it if the library's is meant elsewhere in this file")
            });
        }
        let index = modules.globals.len();
        let before = modules.globals.last().filter(|before| before.file == file).and_then(|before| before.group);
        let group = decl.recursion.as_ref().map(|recursion| if recursion.continues { before.unwrap_or(index) } else { index });
        modules.names[file].insert(name, index);
        modules.globals.push(Global { decl, file, group });
    }
}
