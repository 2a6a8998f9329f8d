//! The blocks of commands on the pages.

use std::path::Path;
use std::process::Command;

/// How the blocks of docs/editors.md begin that install the parser of tree-sitter.
pub const NEOVIM: &str = "cd editors/tree-sitter\ntree-sitter generate\nmkdir -p ~/.config/nvim/";
pub const HELIX: &str = "cd editors/tree-sitter\ntree-sitter generate\nmkdir -p ~/.config/helix/";

/// The blocks in `sh` of a page, in their order.
pub fn shell(page: &str) -> Vec<String> {
    let path = format!("{}/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (mut blocks, mut inside) = (Vec::new(), None);
    for line in text.split_inclusive('\n') {
        inside = match (inside.take(), line.strip_prefix("```")) {
            (None, Some(info)) => Some((info.trim() == "sh", String::new())),
            (Some((is_shell, body)), Some(_)) => {
                blocks.extend(is_shell.then_some(body));
                None
            }
            (Some((is_shell, body)), None) => Some((is_shell, body + line)),
            (None, None) => None,
        };
    }
    blocks
}

/// The block of a page that begins so.
pub fn beginning(page: &str, start: &str) -> String {
    shell(page).into_iter().find(|block| block.starts_with(start)).unwrap_or_else(|| panic!("{page} has no block `{start}`"))
}

/// The command that runs a block in a folder, up to the first line that fails, with `smoothc` on the path.
pub fn command(block: &str, folder: &Path) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_smoothc")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.current_dir(folder).args(["-ec", block]).env("PATH", format!("{}:{path}", bin.display()));
    command
}
