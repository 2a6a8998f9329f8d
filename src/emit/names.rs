//! Names in a target, C unless it says otherwise: from the source, made valid and unique.
//!
//! `'` becomes `_prime`; a keyword of C or C++, a name of libc, libm or our runtime, `main`, or a name that is
//! taken gets a `_` appended (a number, for locals). No local hides another or a function.
//!
//!     x'   →   x_prime        double   →   double_        i (within a loop over i)   →   i_2

use std::collections::{BTreeMap, BTreeSet};

const RESERVED: &str = "
    alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case catch char char8_t
    char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch synchronized
    template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq typeof typeof_unqual complex imaginary linux unix i386
    acos acosf acosl acosh acoshf acoshl asin asinf asinl asinh asinhf asinhl atan atanf atanl atan2 atan2f atan2l atanh atanhf
    atanhl cbrt cbrtf cbrtl ceil ceilf ceill copysign copysignf copysignl cos cosf cosl cosh coshf coshl erf erff erfl erfc erfcf
    erfcl exp expf expl exp2 exp2f exp2l exp10 expm1 expm1f expm1l fabs fabsf fabsl fdim fdimf fdiml floor floorf floorl fma fmaf
    fmal fmax fmaxf fmaxl fmin fminf fminl fmod fmodf fmodl frexp frexpf frexpl hypot hypotf hypotl ilogb ilogbf ilogbl j0 j0f
    j1 j1f jn jnf y0 y0f y1 y1f yn ynf ldexp ldexpf ldexpl lgamma lgammaf lgammal lgamma_r gamma gammaf llrint llrintf llrintl
    llround llroundf llroundl log logf logl log10 log10f log10l log1p log1pf log1pl log2 log2f log2l logb logbf logbl lrint
    lrintf lrintl lround lroundf lroundl modf modff modfl nan nanf nanl nearbyint nearbyintf nearbyintl nextafter nextafterf
    nextafterl nexttoward nexttowardf nexttowardl pow powf powl pow10 remainder remainderf remainderl remquo remquof remquol
    rint rintf rintl round roundf roundl scalb scalbf scalbln scalblnf scalblnl scalbn scalbnf scalbnl signbit significand drem
    finite isinf isnan isfinite isnormal isgreater isgreaterequal isless islessequal islessgreater isunordered fpclassify sin
    sinf sinl sincos sinh sinhf sinhl sqrt sqrtf sqrtl tan tanf tanl tanh tanhf tanhl tgamma tgammaf tgammal trunc truncf truncl
    signgam float_t double_t matherr
    abort abs atexit atof atoi atol atoll bsearch calloc div exit free getenv labs ldiv llabs lldiv malloc mblen mbstowcs mbtowc
    qsort rand realloc srand strtod strtof strtol strtold strtoll strtoul strtoull system wcstombs wctomb _Exit
    memchr memcmp memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror strlen strncat strncmp strncpy
    strpbrk strrchr strspn strstr strtok strxfrm index rindex bcmp bcopy bzero ffs strcasecmp strncasecmp strdup
    clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen fscanf fseek fsetpos ftell
    fwrite getc getchar gets perror printf putc putchar puts remove rename rewind scanf setbuf setvbuf snprintf sprintf sscanf
    tmpfile tmpnam ungetc vfprintf vprintf vsnprintf vsprintf vscanf vsscanf vfscanf stdin stdout stderr
    asctime clock ctime difftime gmtime localtime mktime strftime time signal raise setjmp longjmp assert errno
    isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper
    localeconv setlocale offsetof
    access alarm brk chdir chown close connect creat dup dup2 environ execv execve fork getpid kill link listen lseek mkdir
    open pause pipe poll read readlink recv rmdir sbrk select send shutdown sleep socket stat sync syscall truncate umask uname
    unlink wait write accept bind
    main size_t ptrdiff_t wchar_t intptr_t uintptr_t intmax_t uintmax_t int8_t int16_t int32_t int64_t uint8_t uint16_t
    uint32_t uint64_t max_align_t NULL NAN INFINITY HUGE_VAL EOF BUFSIZ RAND_MAX SIZE_MAX PTRDIFF_MAX PTRDIFF_MIN INT64_MAX
    INT64_MIN UINT64_MAX INT32_MAX INT32_MIN UINT32_MAX INT16_MAX INT16_MIN UINT16_MAX INT8_MAX INT8_MIN UINT8_MAX
    INTMAX_MAX INTMAX_MIN UINTMAX_MAX INTPTR_MAX INTPTR_MIN UINTPTR_MAX WCHAR_MAX WCHAR_MIN WINT_MAX WINT_MIN M_PI M_E
    FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL math_errhandling DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS I
    M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 MAXFLOAT";

/// Names in use, by scope: the outermost holds the file's.
pub struct Names {
    reserved: BTreeSet<&'static str>,
    scopes: Vec<BTreeSet<String>>,
    /// For each scope, the number after the last that a name got there.
    numbers: Vec<BTreeMap<String, usize>>,
}

impl Names {
    /// For C, without any name taken.
    pub fn new() -> Names {
        Names::without(RESERVED)
    }

    /// For a target with these names of its own.
    pub fn without(reserved: &'static str) -> Names {
        Names { reserved: reserved.split_whitespace().collect(), scopes: vec![BTreeSet::new()], numbers: vec![BTreeMap::new()] }
    }

    pub fn open(&mut self) {
        self.scopes.push(BTreeSet::new());
        self.numbers.push(BTreeMap::new());
    }

    pub fn close(&mut self) {
        self.scopes.pop();
        self.numbers.pop();
    }

    pub fn is_taken(&self, name: &str) -> bool {
        let ours = name.starts_with("smooth_") || name.starts_with("SMOOTH_");
        // a leading underscore with a capital or another underscore is the implementation's
        let theirs = name.starts_with("__") || name.starts_with('_') && name[1..].starts_with(|c: char| c.is_ascii_uppercase());
        self.reserved.contains(name)
            || ours && !name.ends_with('_')
            || theirs && !name.ends_with('_')
            || self.scopes.iter().any(|scope| scope.contains(name))
    }

    /// The name with `_` appended until it is free.
    pub fn public(&mut self, source: &str) -> String {
        let mut name = sanitise(source);
        while self.is_taken(&name) {
            name.push('_');
        }
        self.take(&name);
        name
    }

    /// The name, numbered when it is taken.
    pub fn local(&mut self, source: &str) -> String {
        let base = sanitise(source);
        let mut name = base.clone();
        let mut number = 2;
        if self.is_taken(&name) && !self.scopes.iter().any(|scope| scope.contains(&name)) {
            name.push('_');
        }
        if self.is_taken(&name) {
            // numbers below the last one of an open scope are taken: a thousand `t`s need no million tries
            number = self.numbers.iter().filter_map(|scope| scope.get(&base)).copied().fold(number, usize::max);
        }
        while self.is_taken(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.take(&name);
        if let Some(scope) = self.numbers.last_mut() {
            scope.insert(base, number);
        }
        name
    }

    pub fn take(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string());
        }
    }
}

/// A C identifier for any source name.
pub fn sanitise(source: &str) -> String {
    let mut name = String::new();
    for c in source.chars() {
        match c {
            '\'' => name.push_str("_prime"),
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            _ => name.push('_'),
        }
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'v');
    }
    if name == "_" { "unused".to_string() } else { name }
}
