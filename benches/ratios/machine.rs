//! The machine that measures: its processor and caches, as far as Linux tells.

use std::path::Path;

/// Such as `AMD EPYC; caches: L1 32K, L2 512K, L3 32768K`; nothing where nothing is known.
pub fn described() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = known.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name.to_string());
    let caches: Vec<String> =
        (0..8).filter_map(|at| cache(&Path::new("/sys/devices/system/cpu/cpu0/cache").join(format!("index{at}")))).collect();
    let caches = (!caches.is_empty()).then(|| format!("caches: {}", caches.join(", ")));
    name.into_iter().chain(caches).collect::<Vec<_>>().join("; ")
}

/// One that holds data.
fn cache(folder: &Path) -> Option<String> {
    let read = |name: &str| Some(std::fs::read_to_string(folder.join(name)).ok()?.trim().to_string());
    (read("type")? != "Instruction").then_some(())?;
    Some(format!("L{} {}", read("level")?, read("size")?))
}
