//! Why a handler cannot have what it reaches, and what to do instead.

/// A reason, as the end of a sentence about what is reached, and a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Why {
    pub reason: &'static str,
    pub remedy: &'static str,
}

impl Why {
    /// One that has no remedy of its own.
    pub const fn of(reason: &'static str) -> Why {
        Why {
            reason,
            remedy: "keep it out of the handler: do the rest in a thread that `wake` wakes, and hand over numbers, not addresses of functions or constants",
        }
    }
}

pub(super) const NO_LENGTH: Why = Why::of("is no function or constant of which the file says how long it is");
pub(super) const THROUGH_DATA: Why =
    Why::of("is reached through a pointer in data, which threads and handlers share, and is Secure");
pub(super) const SYSTEM_CALL: Why = Why {
    reason: "is a system call, which a handler cannot make",
    remedy: "`cof_wake()` is the one call that handlers have: the thread that it wakes makes all others",
};
pub(super) const FLOAT: Why = Why {
    reason: "is a floating-point instruction, and handlers have no floating-point registers: those are the thread's that they interrupt",
    remedy: "compute with integers in the handler, or leave the raw numbers in a variable and compute in the thread that `wake` wakes",
};
const PRINTS: Why = Why {
    reason: "prints or reads, which takes a lock, memory and system calls: none of them is for handlers",
    remedy: "leave what is to be printed in a variable, call `wake`, and print it in the thread",
};
const ALLOCATES: Why = Why {
    reason: "allocates or frees memory, and a handler can interrupt a thread in the middle of that",
    remedy: "declare a static variable of the largest size, or let the thread that `wake` wakes allocate",
};
const ENDS: Why = Why {
    reason: "ends the program, which only its threads can do",
    remedy: "leave the error in a variable, call `wake`, and let the thread end the program",
};
const THROWS: Why = Why {
    reason: "throws an exception, which takes memory and tables that are not a handler's",
    remedy: "return the error in a variable, call `wake`, and let the thread throw",
};
const DIVIDES: Why = Why {
    reason: "divides numbers of 64 bits: a function of the compiler's library, of which the file does not say how long it is",
    remedy: "divide numbers of 32 bits, or shift where the divisor is a power of two; or leave the numbers in a variable and divide in the thread that `wake` wakes",
};

/// Functions of the libraries of C and C++ by what they are for. Their own ways would be refused, too, but deep inside, where nobody knows why.
const KNOWN: &[(&[&str], Why)] = &[
    (
        &[
            "printf",
            "vprintf",
            "fprintf",
            "vfprintf",
            "iprintf",
            "fiprintf",
            "viprintf",
            "puts",
            "putchar",
            "putc",
            "fputs",
            "fputc",
            "fwrite",
            "fread",
            "fflush",
            "perror",
            "write",
            "_write",
            "read",
            "_read",
            "getchar",
            "getc",
            "fgetc",
            "fgets",
            "scanf",
            "fscanf",
            "_printf_r",
            "_puts_r",
            "_putc_r",
            "_putchar_r",
            "_write_r",
            "_fflush_r",
        ],
        PRINTS,
    ),
    (
        &[
            "malloc",
            "calloc",
            "realloc",
            "reallocarray",
            "free",
            "aligned_alloc",
            "memalign",
            "posix_memalign",
            "strdup",
            "strndup",
            "_malloc_r",
            "_calloc_r",
            "_realloc_r",
            "_free_r",
            "rt_malloc",
            "rt_free",
            "_Znwj",
            "_Znaj",
            "_ZdlPv",
            "_ZdlPvj",
            "_ZdaPv",
            "_ZdaPvj",
            "_ZnwjRKSt9nothrow_t",
            "_ZnajRKSt9nothrow_t",
            "__rust_alloc",
            "__rust_dealloc",
            "__rust_realloc",
            "__rust_alloc_zeroed",
        ],
        ALLOCATES,
    ),
    (&["exit", "_exit", "_Exit", "quick_exit", "abort", "raise", "__assert", "__assert_func", "_ZSt9terminatev"], ENDS),
    (&["__cxa_throw", "__cxa_rethrow", "__cxa_allocate_exception", "_Unwind_Resume", "_Unwind_RaiseException"], THROWS),
    (
        &["__aeabi_ldivmod", "__aeabi_uldivmod", "__divdi3", "__udivdi3", "__moddi3", "__umoddi3", "__udivmoddi4"],
        DIVIDES,
    ),
];

/// Why a function of that name is not for handlers, if it is one of those.
pub(super) fn of_name(name: &str) -> Option<Why> {
    KNOWN.iter().find(|(names, _)| names.contains(&name)).map(|(_, why)| *why)
}
