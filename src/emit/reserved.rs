//! Names that C, C++ and their libraries have taken.
//!
//! The functions, types and macros of the headers that an emitted file includes, with what g++'s `<math.h>` brings along
//! (`<stdlib.h>` with all extensions of glibc), those of C23, and what a user's own file is likely to include beside them.
//!
//!     sinf64   →   reserved: `sin` with a suffix of the floating types        sine   →   free

use std::collections::BTreeSet;

/// Functions of `<math.h>`; each also has its forms for other floating types ([`SUFFIXES`]).
const MATH: &str = "
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim floor fma fmax
    fmin fmod frexp hypot ilogb j0 j1 jn y0 y1 yn ldexp lgamma lgamma_r gamma llrint llround log log10 log1p log2 logb lrint
    lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round scalb scalbln scalbn signbit
    significand drem finite isinf isnan isfinite isnormal isgreater isgreaterequal isless islessequal islessgreater isunordered
    fpclassify sin sincos sinh sqrt tan tanh tgamma trunc signgam float_t double_t matherr acospi asinpi atanpi atan2pi cospi
    sinpi tanpi exp2m1 exp10m1 log2p1 log10p1 logp1 rsqrt pown powr rootn compoundn canonicalize fmaximum fmaximum_mag
    fmaximum_mag_num fmaximum_num fmaxmag fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag fromfp fromfpx getpayload
    llogb nextdown nextup roundeven setpayload setpayloadsig totalorder totalordermag ufromfp ufromfpx iscanonical fadd fsub
    fmul fdiv fsqrt ffma dadd dsub dmul ddiv dsqrt dfma
    M_PI M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2";

const SUFFIXES: [&str; 9] = ["f", "l", "f16", "f32", "f64", "f128", "f32x", "f64x", "bf16"];

const OTHER: &str = "
    smoothc
    alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case catch char
    char8_t char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue co_await co_return
    co_yield decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
    inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
    synchronized template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq typeof typeof_unqual complex imaginary linux unix i386
    abort abs atexit atof atoi atol atoll bsearch calloc div exit free getenv labs ldiv llabs lldiv malloc mblen mbstowcs mbtowc
    qsort rand realloc srand strtod strtof strtol strtold strtoll strtoul strtoull system wcstombs wctomb _Exit memchr memcmp
    memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror strlen strncat strncmp strncpy strpbrk strrchr
    strspn strstr strtok strxfrm index rindex bcmp bcopy bzero ffs strcasecmp strncasecmp strdup clearerr fclose feof ferror
    fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen fscanf fseek fsetpos ftell fwrite getc getchar gets
    perror printf putc putchar puts remove rename rewind scanf setbuf setvbuf snprintf sprintf sscanf tmpfile tmpnam ungetc
    vfprintf vprintf vsnprintf vsprintf vscanf vsscanf vfscanf stdin stdout stderr asctime clock ctime difftime gmtime localtime
    mktime strftime time signal raise setjmp longjmp assert errno isalnum isalpha isblank iscntrl isdigit isgraph islower
    isprint ispunct isspace isupper isxdigit tolower toupper localeconv setlocale offsetof access alarm brk chdir chown close
    connect creat dup dup2 environ execv execve fork getpid kill link listen lseek mkdir open pause pipe poll read readlink recv
    rmdir sbrk select send shutdown sleep socket stat sync syscall truncate umask uname unlink wait write accept bind main
    size_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
    max_align_t NULL NAN INFINITY HUGE_VAL EOF BUFSIZ RAND_MAX SIZE_MAX PTRDIFF_MAX PTRDIFF_MIN INT64_MAX INT64_MIN UINT64_MAX
    INT32_MAX INT32_MIN UINT32_MAX INT16_MAX INT16_MIN UINT16_MAX INT8_MAX INT8_MIN UINT8_MAX INTMAX_MAX INTMAX_MIN UINTMAX_MAX
    INTPTR_MAX INTPTR_MIN UINTPTR_MAX WCHAR_MAX WCHAR_MIN WINT_MAX WINT_MIN FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL
    FP_NORMAL math_errhandling DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS I
    MAXFLOAT a64l aligned_alloc alloca arc4random arc4random_buf arc4random_uniform
    at_quick_exit be16toh be32toh be64toh blkcnt64_t blkcnt_t blksize_t caddr_t canonicalize_file_name clearenv clock_t
    clockid_t comparison_fn_t daddr_t dev_t div_t drand48 drand48_r ecvt ecvt_r erand48 erand48_r fcvt fcvt_r fd_mask fd_set
    fsblkcnt64_t fsblkcnt_t fsfilcnt64_t fsfilcnt_t fsid_t gcvt getloadavg getpt getsubopt gid_t grantpt htobe16 htobe32 htobe64
    htole16 htole32 htole64 id_t initstate initstate_r ino64_t ino_t iseqsig issignaling issubnormal iszero jrand48 jrand48_r
    key_t l64a lcong48 lcong48_r ldiv_t le16toh le32toh le64toh lgammaf128_r lgammaf32_r lgammaf32x_r lgammaf64_r lgammaf64x_r
    lgammaf_r lgammal_r locale_t loff_t lrand48 lrand48_r mkdtemp mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64
    mkstemps mkstemps64 mktemp mode_t mrand48 mrand48_r nlink_t nrand48 nrand48_r off64_t off_t on_exit pid_t posix_memalign
    posix_openpt pselect pthread_attr_t pthread_barrier_t pthread_barrierattr_t pthread_cond_t pthread_condattr_t pthread_key_t
    pthread_mutex_t pthread_mutexattr_t pthread_once_t pthread_rwlock_t pthread_rwlockattr_t pthread_spinlock_t pthread_t
    ptsname ptsname_r putenv qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort_r quad_t quick_exit rand_r random random_r reallocarray
    realpath register_t rpmatch secure_getenv seed48 seed48_r setenv setstate setstate_r sigset_t srand48 srand48_r srandom
    srandom_r ssize_t strfromd strfromf strfromf128 strfromf32 strfromf32x strfromf64 strfromf64x strfroml strtod_l strtof128
    strtof128_l strtof32 strtof32_l strtof32x strtof32x_l strtof64 strtof64_l strtof64x strtof64x_l strtof_l strtol_l strtold_l
    strtoll_l strtoq strtoul_l strtoull_l strtouq suseconds_t time_t timer_t u_char u_int u_int16_t u_int32_t u_int64_t u_int8_t
    u_long u_quad_t u_short uid_t uint ulong unlockpt unsetenv useconds_t ushort valloc memalignment free_sized
    free_aligned_sized call_once strlcpy strlcat unreachable once_flag std
    f32addf128 f32addf32x f32addf64 f32addf64x f32divf128 f32divf32x f32divf64 f32divf64x f32fmaf128 f32fmaf32x f32fmaf64
    f32fmaf64x f32mulf128 f32mulf32x f32mulf64 f32mulf64x f32sqrtf128 f32sqrtf32x f32sqrtf64 f32sqrtf64x f32subf128 f32subf32x
    f32subf64 f32subf64x f32xaddf128 f32xaddf64 f32xaddf64x f32xdivf128 f32xdivf64 f32xdivf64x f32xfmaf128 f32xfmaf64
    f32xfmaf64x f32xmulf128 f32xmulf64 f32xmulf64x f32xsqrtf128 f32xsqrtf64 f32xsqrtf64x f32xsubf128 f32xsubf64 f32xsubf64x
    f64addf128 f64addf64x f64divf128 f64divf64x f64fmaf128 f64fmaf64x f64mulf128 f64mulf64x f64sqrtf128 f64sqrtf64x f64subf128
    f64subf64x f64xaddf128 f64xdivf128 f64xfmaf128 f64xmulf128 f64xsqrtf128 f64xsubf128
    EXIT_FAILURE EXIT_SUCCESS BIG_ENDIAN LITTLE_ENDIAN PDP_ENDIAN BYTE_ORDER FD_CLR FD_ISSET FD_SET FD_SETSIZE FD_ZERO NFDBITS
    FP_ILOGB0 FP_ILOGBNAN FP_INT_DOWNWARD FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0
    FP_LLOGBNAN FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL HUGE_VALF HUGE_VALL HUGE_VAL_F128 HUGE_VAL_F16 HUGE_VAL_F32 HUGE_VAL_F32X
    HUGE_VAL_F64 HUGE_VAL_F64X SNAN SNANF SNANF128 SNANF16 SNANF32 SNANF32X SNANF64 SNANF64X SNANL MATH_ERREXCEPT MATH_ERRNO
    MB_CUR_MAX ONCE_FLAG_INIT WCONTINUED WEXITED WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG WNOWAIT
    WSTOPPED WSTOPSIG WTERMSIG WUNTRACED INT8_C UINT8_C INT8_WIDTH UINT8_WIDTH INT_FAST8_MAX INT_FAST8_WIDTH UINT_FAST8_MAX
    UINT_FAST8_WIDTH INT_FAST8_MIN int_fast8_t uint_fast8_t INT_LEAST8_MAX INT_LEAST8_WIDTH UINT_LEAST8_MAX UINT_LEAST8_WIDTH
    INT_LEAST8_MIN int_least8_t uint_least8_t INT16_C UINT16_C INT16_WIDTH UINT16_WIDTH INT_FAST16_MAX INT_FAST16_WIDTH
    UINT_FAST16_MAX UINT_FAST16_WIDTH INT_FAST16_MIN int_fast16_t uint_fast16_t INT_LEAST16_MAX INT_LEAST16_WIDTH
    UINT_LEAST16_MAX UINT_LEAST16_WIDTH INT_LEAST16_MIN int_least16_t uint_least16_t INT32_C UINT32_C INT32_WIDTH UINT32_WIDTH
    INT_FAST32_MAX INT_FAST32_WIDTH UINT_FAST32_MAX UINT_FAST32_WIDTH INT_FAST32_MIN int_fast32_t uint_fast32_t INT_LEAST32_MAX
    INT_LEAST32_WIDTH UINT_LEAST32_MAX UINT_LEAST32_WIDTH INT_LEAST32_MIN int_least32_t uint_least32_t INT64_C UINT64_C
    INT64_WIDTH UINT64_WIDTH INT_FAST64_MAX INT_FAST64_WIDTH UINT_FAST64_MAX UINT_FAST64_WIDTH INT_FAST64_MIN int_fast64_t
    uint_fast64_t INT_LEAST64_MAX INT_LEAST64_WIDTH UINT_LEAST64_MAX UINT_LEAST64_WIDTH INT_LEAST64_MIN int_least64_t
    uint_least64_t INTMAX_C UINTMAX_C INTMAX_WIDTH UINTMAX_WIDTH INTPTR_WIDTH UINTPTR_WIDTH PTRDIFF_WIDTH SIZE_WIDTH WCHAR_WIDTH
    WINT_WIDTH SIG_ATOMIC_MAX SIG_ATOMIC_MIN SIG_ATOMIC_WIDTH";

/// All names that no entry, parameter or local gets.
#[derive(Clone)]
pub struct Reserved {
    names: BTreeSet<&'static str>,
    /// Whether `<math.h>` is one of the libraries.
    math: bool,
}

impl Reserved {
    pub fn new() -> Reserved {
        Reserved { names: words().collect(), math: true }
    }

    /// These words alone, for another target than C.
    pub fn of(words: &'static str) -> Reserved {
        Reserved { names: words.split_whitespace().collect(), math: false }
    }

    pub fn has(&self, name: &str) -> bool {
        let math = |base: &str| MATH.split_whitespace().any(|word| word == base);
        self.names.contains(name) || self.math && SUFFIXES.iter().filter_map(|suffix| name.strip_suffix(suffix)).any(math)
    }
}

/// The names that are listed.
pub fn words() -> impl Iterator<Item = &'static str> {
    MATH.split_whitespace().chain(OTHER.split_whitespace())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use super::super::tests::{emit, function};
    use super::words;
    use crate::ir::{Expr, Type, Var};

    /// What the headers declare and define, by the compiler's own preprocessor: names before a `(`, and macros.
    fn of_the_headers(folder: &std::path::Path) -> BTreeSet<String> {
        let headers = ["math", "stdbool", "stddef", "stdint", "stdlib"].map(|name| format!("#include <{name}.h>\n"));
        std::fs::write(folder.join("headers.c"), headers.concat()).expect("writes");
        let mut command = Command::new("gcc");
        command.args(["-D_GNU_SOURCE", "-std=gnu2x", "-E", "-P", "-dD", "headers.c"]).current_dir(folder);
        let text = String::from_utf8(command.output().expect("gcc runs").stdout).expect("UTF-8");
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let called = text.split('(').filter_map(|before| before.trim_end().rsplit(|c: char| !is_word(c)).next());
        let defined = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split(|c: char| !is_word(c)).next());
        called.chain(defined).filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic())).map(str::to_string).collect()
    }

    #[test]
    fn an_entry_of_each_name_compiles() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut names: BTreeSet<String> = words().map(str::to_string).collect();
        names.extend(of_the_headers(folder.path()));
        let itself = |name: &String| {
            let x = Var::fresh("x", Type::Double);
            function(name, &[], &[&x], Expr::var(&x))
        };
        let functions = names.iter().map(itself).collect();
        std::fs::write(folder.path().join("names.c"), emit(functions, &[]).source).expect("writes");
        for compiler in ["gcc -std=c99", "gcc -std=gnu2x -D_GNU_SOURCE", "g++ -x c++", "g++ -x c++ -std=c++23"] {
            let command = format!("{compiler} -Wall -Werror -fsyntax-only names.c");
            let done = Command::new("sh").arg("-c").arg(&command).current_dir(folder.path()).output().expect("a shell");
            assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }
}
