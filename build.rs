//! Says whether the crate checks what each stage makes: development builds do, those that are optimised do not, unless they have
//! `debug_assertions`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(checked)");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        println!("cargo::rustc-cfg=checked");
    }
}
