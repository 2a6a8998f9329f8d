//! Snapshots in `snapshots/`, one way for all tests.
//!
//! In: a folder of `snapshots/`, a name, a text. Out: nothing where the text is the one that was kept. What says which smoothc
//! made a text from which bytes is left out: a new version, or a comment in a program, changes no snapshot.

/// Holds a text against `snapshots/FOLDER/NAME.snap`.
pub fn holds(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../../../snapshots/{folder}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter("smoothc [0-9.]+ from (.*), sha256 [0-9a-f]{16}", "smoothc VERSION from $1, sha256 HASH");
    settings.bind(|| insta::assert_snapshot!(name, text));
}
