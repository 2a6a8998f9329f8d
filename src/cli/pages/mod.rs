//! The page of every diagnostic code, for `smoothc explain CODE`: a table, one page a code.
//!
//! In: `E0102`. Out: its title and what it means, an example and the way out. The first two digits say where
//! a code comes from: 00 files, 01 syntax, 02 names, 03 types, 04 sizes, 05 differentiation, 06 unsupported,
//! 07 run time, 08 arguments, 09 tools and internal errors; W is a warning. A test walks the sources: no code
//! is without its page.

pub mod example;
mod meaning;
mod syntax;
mod using;

/// One page.
#[derive(Debug)]
pub struct Page {
    pub code: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

impl Page {
    /// What `smoothc explain CODE` prints: title, meaning, a wrong and a right program where there are such.
    pub fn print(&self) -> String {
        let examples: String = example::of(self.code).map(|example| example.print()).collect();
        format!("{}: {}\n\n{}\n{examples}", self.code, self.title, self.text.trim())
    }
}

/// All pages: files, syntax, names; types, sizes, differentiation; running and using.
pub fn all() -> impl Iterator<Item = &'static Page> {
    syntax::PAGES.iter().chain(meaning::PAGES).chain(using::PAGES)
}

/// The page of a code.
pub fn find(code: &str) -> Option<&'static Page> {
    all().find(|page| page.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Every `"E0101"` and `"W0202"` in a folder of Rust files.
    fn codes(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                codes(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("a file");
                for quoted in text.split('"') {
                    let digits = quoted.strip_prefix(['E', 'W']).unwrap_or_default();
                    if digits.len() == 4 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                        found.insert(quoted.to_string());
                    }
                }
            }
        }
    }

    #[test]
    fn every_code_has_one_page() {
        let mut found = BTreeSet::new();
        codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.len() > 20, "{found:?}");
        let missing: Vec<_> = found.iter().filter(|code| find(code).is_none()).collect();
        assert!(missing.is_empty(), "no page for {missing:?}");
        let pages: Vec<&str> = all().map(|page| page.code).collect();
        let mut sorted = pages.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(pages.len(), sorted.len(), "a code has two pages");
    }
}
