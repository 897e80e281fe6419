//! The layer rule of docs/architecture.md: which part may depend on which.

use crate::Finding;
use crate::workspace::{Edge, EdgeKind, Member};

/// A part of the repository, named by the first component of a package's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// `crates/`: the ground; pure, portable.
    Crates,
    /// `capi/`: the crates for programs in C that run on another kernel.
    Capi,
    /// `kernel/`: mechanism only.
    Kernel,
    /// `arch/`: encodes and applies.
    Arch,
    /// `arch/*-m`: what architectures of one profile have in common.
    Profile,
    /// `arch/*-user`: the instructions with which a domain enters the kernel; unprivileged.
    Entry,
    /// `images/`: the kernel's image for a core; the addresses of a board come from its file.
    Images,
    /// `boards/`, `chips/` and `cores/`: data; no code.
    Data,
    /// `user/`: the run-time of domains.
    User,
    /// `drivers/`: drivers of devices, for domains.
    Drivers,
    /// `services/`: domains that serve others.
    Services,
    /// `examples/`, `eval/systems/` and `tests/`: domains.
    Apps,
    /// `tests/conformance/rows`: what tests on the host and domains on a chip share; as portable as the ground.
    Rows,
    /// `sim/`: models of chips, the observer, and what starts a simulator.
    Sim,
    /// `tools/`: from the manifest to the image and the report.
    Tools,
    /// `eval/`: figures, peers, hunts.
    Eval,
    /// `cli/`: the command.
    Command,
    /// `tests/suites`: whole systems, as a user runs them.
    Suites,
}

impl Layer {
    /// The layer that a directory below the root belongs to, if it is one.
    pub fn of_directory(directory: &str) -> Option<Self> {
        Some(match directory.split('/').next()? {
            "crates" => Self::Crates,
            "capi" => Self::Capi,
            "kernel" => Self::Kernel,
            "arch" if directory.ends_with("-user") => Self::Entry,
            "arch" if directory.ends_with("-m") => Self::Profile,
            "arch" => Self::Arch,
            "images" => Self::Images,
            "boards" | "chips" | "cores" => Self::Data,
            "user" => Self::User,
            "drivers" => Self::Drivers,
            "services" => Self::Services,
            "tests" if directory == "tests/suites" => Self::Suites,
            "tests" if directory == "tests/conformance/rows" => Self::Rows,
            "examples" | "tests" => Self::Apps,
            "eval" if directory.starts_with("eval/systems/") => Self::Apps,
            "sim" => Self::Sim,
            "tools" => Self::Tools,
            "eval" => Self::Eval,
            "cli" => Self::Command,
            _ => return None,
        })
    }

    /// The layers that this one may depend on.
    pub const fn may_use(self) -> &'static [Self] {
        use Layer::{
            Apps, Arch, Capi, Command, Crates, Data, Drivers, Entry, Eval, Images, Kernel, Profile, Rows, Services,
            Sim, Suites, Tools, User,
        };
        match self {
            Crates | Capi | Kernel | Rows => &[Crates],
            Entry => &[Entry, Crates],
            Arch => &[Profile, Kernel, Crates],
            Profile => &[Kernel, Crates],
            Images => &[Arch, Kernel, Crates],
            User => &[User, Entry, Crates],
            Drivers => &[User, Crates],
            Services => &[User, Drivers, Crates],
            Apps => &[User, Drivers, Rows, Crates],
            Data => &[],
            Sim => &[Sim, Data, Crates],
            Tools => &[Tools, Sim, Data, Crates],
            Eval => &[Eval, Tools, Sim, Data, Crates],
            Command => &[Eval, Tools, Sim, Data, Crates],
            Suites => &[Eval, Tools, Sim, Data, Rows, Crates],
        }
    }
}

/// The ground in its order: a crate may depend only on crates that stand before it.
pub const GROUND: &[&str] = &[
    "testing", "units", "number", "abi", "foreign", "paces", "spec", "protect", "memory", "traces", "rtmmu", "manager",
    "sched", "system",
];

/// The crate with which build scripts read board files.
const BOARD_FACTS: &str = "tools/board-facts";

/// Every edge between workspace members that the rule does not allow, and every member that belongs to no layer.
pub fn check(members: &[Member]) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members {
        let Some(layer) = Layer::of_directory(&member.directory) else {
            found.push(Finding::new("layer-unknown", &member.directory, "this directory belongs to no layer"));
            continue;
        };
        if layer == Layer::Crates && ground_rank(&member.directory).is_none() {
            let text = "not in the list of the ground; add it to GROUND in tools/lint/src/layers.rs at its place";
            found.push(Finding::new("layer-unknown", &member.directory, text));
        }
        found.extend(member.edges.iter().filter_map(|edge| check_edge(member, layer, edge)));
    }
    found
}

/// Every manifest below a layer's directory that is no member of the workspace and so escapes the checks.
pub fn check_members<'a>(members: &[Member], manifests: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let outside = manifests.filter_map(|path| path.strip_suffix("/Cargo.toml")).filter(|directory| {
        Layer::of_directory(directory).is_some() && !members.iter().any(|member| member.directory == *directory)
    });
    let text = "not a member of the workspace, so no rule reaches it; add it to `members` in Cargo.toml";
    outside.map(|directory| Finding::new("layer-member", directory, text)).collect()
}

fn ground_rank(directory: &str) -> Option<usize> {
    let name = directory.strip_prefix("crates/")?;
    GROUND.iter().position(|known| *known == name)
}

fn check_edge(member: &Member, layer: Layer, edge: &Edge) -> Option<Finding> {
    let to = edge.directory.as_deref()?;
    let wrong = |text: String| Some(Finding::new("layer-edge", format!("{}/Cargo.toml", member.directory), text));
    let Some(target) = Layer::of_directory(to) else {
        return wrong(format!("depends on {to}, which belongs to no layer"));
    };
    if to == member.directory {
        return None; // a package's own tests may turn on its features
    }
    if layer == Layer::Apps && target == Layer::Apps {
        return if same_system(&member.directory, to) {
            None
        } else {
            wrong(format!("depends on {to}, which belongs to another system"))
        };
    }
    if matches!(layer, Layer::Images | Layer::Crates) && to == BOARD_FACTS && edge.kind == EdgeKind::Build {
        return None; // what kernels and suites know of a board comes from the file that the host tools read
    }
    if (layer, target, edge.kind) == (Layer::Kernel, Layer::Rows, EdgeKind::Development) {
        return None; // the kernel's tests perform the rows on simulated processors
    }
    if !layer.may_use().contains(&target) {
        return wrong(format!("depends on {to}; {layer:?} may use only {:?}", layer.may_use()));
    }
    if layer == Layer::Crates && edge.kind != EdgeKind::Development {
        let (from_rank, to_rank) = (ground_rank(&member.directory)?, ground_rank(to)?);
        if to_rank >= from_rank {
            return wrong(format!("depends on {to}, which stands above it; the order is {}", GROUND.join(", ")));
        }
    }
    None
}

/// Packages of one example may share code: `examples/gateway/a` and `examples/gateway/b`.
fn same_system(a: &str, b: &str) -> bool {
    let head = |path: &str| path.rsplit_once('/').map(|(head, _)| head.to_owned());
    head(a) == head(b) && head(a).is_some()
}
