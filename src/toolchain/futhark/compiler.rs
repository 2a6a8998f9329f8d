//! The Futhark compiler: `FUTHARK` or `futhark` on the path, run under a time and a memory limit.
//!
//! In: emitted Futhark, a backend, and where the result goes. Out: C with its header in a folder; or a library, an
//! object or a static library made of it; or a diagnostic: E0903 when there is no compiler or its backend lacks the
//! headers and libraries of a GPU, with how to get them, E0902 when it rejects the text, which is a bug of smoothc, E0905
//! when it takes too long.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::toolchain::compiler::{self, Artifact, Mode};

/// What a compilation may take: the type checker is superlinear in the lets of one function.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub seconds: u64,
    pub megabytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { seconds: 600, megabytes: 4096 }
    }
}

/// What to call: `FUTHARK` from the environment, or `futhark`.
pub fn command_name() -> PathBuf {
    std::env::var_os("FUTHARK").filter(|name| !name.is_empty()).map_or_else(|| "futhark".into(), PathBuf::from)
}

/// Whether there is a Futhark compiler that answers.
pub fn is_there() -> bool {
    Command::new(command_name()).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Writes the program to `folder/program.fut` and runs the compiler on it; gives what it said.
pub fn run(source: &str, words: &[&str], folder: &Path, limits: Limits) -> Result<String, Diagnostic> {
    let file = folder.join("program.fut");
    std::fs::write(&file, source).map_err(|error| cannot_write(&error))?;
    let mut command = Command::new(command_name());
    // one thread: on several, its garbage collector takes more processor time than it saves
    command.args(words).arg(&file).args(["+RTS", &format!("-M{}m", limits.megabytes), "-N1", "-RTS"]);
    limited(command, limits)
}

/// C and its header as `folder/program.c` and `folder/program.h`.
pub fn generate(source: &str, backend: &str, folder: &Path, limits: Limits) -> Result<(), Diagnostic> {
    let output = folder.join("program");
    run(source, &[backend, "--library", "-o", &output.to_string_lossy()], folder, limits)?;
    mend(&folder.join("program.c"), backend).map_err(|error| cannot_write(&error))
}

/// What is wrong in the C of Futhark 0.25: backend, text, and what it should be. Other versions may have other text, which stays.
const MENDED: [(&str, &str, &str); 2] = [
    // for a loop without iterations the scheduler leaves a task in the caller's own queue, and closing the context waits for ever
    // until somebody takes it out
    (
        "multicore",
        "wake_up_threads(scheduler, nsubtasks, scheduler->num_threads)",
        "wake_up_threads(scheduler, nsubtasks > 0 ? nsubtasks : 1, scheduler->num_threads)",
    ),
    // CUDA 13 has one more parameter
    (
        "cuda",
        "  CUDA_SUCCEED_FATAL(cuCtxCreate(&ctx->cu_ctx, 0, ctx->dev));\n",
        "#if CUDA_VERSION >= 13000
  CUDA_SUCCEED_FATAL(cuCtxCreate(&ctx->cu_ctx, NULL, 0, ctx->dev));
#else
  CUDA_SUCCEED_FATAL(cuCtxCreate(&ctx->cu_ctx, 0, ctx->dev));
#endif
",
    ),
];

fn mend(file: &Path, backend: &str) -> io::Result<()> {
    let mends: Vec<_> = MENDED.iter().filter(|(of, ..)| *of == backend).collect();
    if mends.is_empty() {
        return Ok(());
    }
    let text = std::fs::read_to_string(file)?;
    std::fs::write(file, mends.iter().fold(text, |text, (_, wrong, right)| text.replace(wrong, right)))
}

/// A library, an object or a static library at `output`; a header goes beside it.
pub fn build(source: &str, backend: &str, artifact: Artifact, mode: impl Into<Mode>, output: &Path) -> Result<(), Diagnostic> {
    let folder = tempfile::tempdir().map_err(|error| cannot_write(&error))?;
    generate(source, backend, folder.path(), Limits::default())?;
    compile(folder.path(), backend, artifact, mode, output)?;
    let header = output.with_extension("h");
    std::fs::copy(folder.path().join("program.h"), &header)
        .map(drop)
        .map_err(|error| Diagnostic::error("E0011", Span::NONE, format!("cannot write `{}`: {error}", header.display())))
}

/// Compiles `folder/program.c`.
pub fn compile(folder: &Path, backend: &str, artifact: Artifact, mode: impl Into<Mode>, output: &Path) -> Result<(), Diagnostic> {
    let libraries: &[&str] = match backend {
        "multicore" => &["-lpthread", "-lm"],
        "opencl" => &["-lOpenCL", "-lm"],
        "cuda" => &["-lcuda", "-lcudart", "-lnvrtc", "-lm"],
        "hip" => &["-lamdhip64", "-lhiprtc", "-lm"],
        _ => &["-lm"],
    };
    let made = compiler::compile_generated(folder, &folder.join("program.c"), artifact, mode.into(), output, libraries);
    made.map_err(|problem| without_platform(backend, libraries, problem))
}

/// What is wrong when C for a GPU does not compile: without the platform's headers and libraries nothing is a bug.
fn without_platform(backend: &str, libraries: &[&str], problem: Diagnostic) -> Diagnostic {
    let (platform, headers, packages) = match backend {
        "opencl" => ("OpenCL", "CL/", "OpenCL (`apt install opencl-headers ocl-icd-opencl-dev` on Debian)"),
        "cuda" => ("CUDA", "cuda nvrtc", "CUDA (`apt install nvidia-cuda-toolkit` on Debian, with non-free packages)"),
        "hip" => ("HIP", "hip/", "ROCm with HIP (`apt install libamdhip64-dev` on Debian, `hip-dev` from AMD)"),
        _ => return problem,
    };
    let is_of_platform = |part: &&str| {
        part.starts_with("-l") && *part != "-lm" && libraries.contains(part) || headers.split(' ').any(|start| part.starts_with(start))
    };
    let Some(part) = problem.message.lines().filter_map(missing_part).find(is_of_platform) else { return problem };
    let message = format!("{platform} is needed for the Futhark backend `{backend}`, and `{part}` was not found");
    Diagnostic::error("E0903", Span::NONE, message).help(format!("install {packages}, or choose `--futhark-backend c` or `multicore`"))
}

/// The header or library that a line of a C compiler or linker says is missing.
fn missing_part(line: &str) -> Option<&str> {
    if let Some((_, said)) = line.split_once("fatal error: ") {
        let header = said.strip_suffix(": No such file or directory").or_else(|| said.strip_suffix(" file not found"));
        return header.map(|header| header.trim_matches('\''));
    }
    let starts = ["cannot find ", "unable to find library ", "library not found for "];
    let said = starts.iter().find_map(|start| line.split_once(start))?.1;
    said.split([' ', ':']).next()
}

/// Runs a command that may take neither more time nor more memory than allowed.
fn limited(mut command: Command, limits: Limits) -> Result<String, Diagnostic> {
    let program = PathBuf::from(command.get_program());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => missing(&program),
        _ => Diagnostic::error("E0903", Span::NONE, format!("cannot run `{}`: {error}", program.display())),
    })?;
    // what it says is read while it runs, so that no full pipe stops it
    let readers = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
    let end = Instant::now() + Duration::from_secs(limits.seconds);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                // it may have ended by itself just now
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let said: String = readers.into_iter().flatten().filter_map(|thread| thread.join().ok()).collect();
    let too_much = |what: String| {
        Diagnostic::error("E0905", Span::NONE, what)
            .help("split the program, or leave out `--schedule none`; `--target c` has no such limit")
    };
    match status {
        None => Err(too_much(format!("`{}` took more than {} seconds", program.display(), limits.seconds))),
        Some(status) if status.success() => Ok(said),
        Some(_) if said.contains("heap") && said.contains("exhausted") => {
            Err(too_much(format!("`{}` took more than {} MB of memory", program.display(), limits.megabytes)))
        }
        Some(_) => {
            let lines: Vec<&str> = said.lines().take(30).collect();
            let message = format!("the Futhark compiler `{}` failed:\n{}", program.display(), lines.join("\n"));
            Err(Diagnostic::error("E0902", Span::NONE, message).help("this is a bug in smoothc: please report it with the program"))
        }
    }
}

fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // what was read before an error is still worth showing
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn missing(program: &Path) -> Diagnostic {
    Diagnostic::error("E0903", Span::NONE, format!("a Futhark compiler is needed, and `{}` was not found", program.display()))
        .help("install it (`apt install futhark` on Debian 13, `brew install futhark`, or futhark-lang.org), or set FUTHARK to it")
}

fn cannot_write(error: &io::Error) -> Diagnostic {
    Diagnostic::error("E0011", Span::NONE, format!("cannot write to a temporary folder: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_platform_is_a_missing_tool() {
        let opencl = &["-lOpenCL", "-lm"][..];
        let cuda = &["-lcuda", "-lcudart", "-lnvrtc", "-lm"][..];
        let hip = &["-lamdhip64", "-lhiprtc", "-lm"][..];
        for (backend, libraries, said, part) in [
            ("opencl", opencl, "program.c:41:10: fatal error: CL/cl.h: No such file or directory\n   41 | #include <CL/cl.h>", "CL/cl.h"),
            ("opencl", opencl, "program.c:41:10: fatal error: 'CL/cl.h' file not found", "CL/cl.h"),
            ("opencl", opencl, "/usr/bin/ld: cannot find -lOpenCL: No such file or directory", "-lOpenCL"),
            ("cuda", cuda, "program.c:35:10: fatal error: cuda.h: No such file or directory", "cuda.h"),
            ("cuda", cuda, "/usr/bin/ld: warning\n/usr/bin/ld: cannot find -lcuda", "-lcuda"),
            ("cuda", cuda, "ld.lld: error: unable to find library -lnvrtc", "-lnvrtc"),
            ("hip", hip, "program.c:36:10: fatal error: hip/hip_runtime.h: No such file or directory", "hip/hip_runtime.h"),
        ] {
            let rejected = Diagnostic::error("E0902", Span::NONE, format!("the C compiler `cc` failed:\n{said}"));
            let problem = without_platform(backend, libraries, rejected);
            assert_eq!(problem.code, "E0903", "{said}");
            assert!(problem.message.ends_with(&format!("`{backend}`, and `{part}` was not found")), "{}", problem.message);
        }
        // what has nothing to do with the platform stays what it was
        for (backend, libraries, said) in [
            ("c", &["-lm"][..], "program.c:1:10: fatal error: CL/cl.h: No such file or directory"),
            ("opencl", opencl, "program.c:1:10: fatal error: stdio.h: No such file or directory"),
            ("opencl", opencl, "/usr/bin/ld: cannot find -lm"),
            ("cuda", cuda, "program.c:7:1: error: unknown type name"),
        ] {
            let rejected = Diagnostic::error("E0902", Span::NONE, format!("the C compiler `cc` failed:\n{said}"));
            assert_eq!(without_platform(backend, libraries, rejected).code, "E0902", "{said}");
        }
    }
}
