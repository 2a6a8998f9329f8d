//! The page of every diagnostic code, for `smoothc explain CODE`.

/// One page.
#[derive(Debug)]
pub struct Page {
    pub code: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

pub fn find(_: &str) -> Option<&'static Page> {
    None
}
