//! Bounds of the gates of the services that come with Cofferdam. What their calls take is known for each board and profile, and stands in the board's
//! file; a system whose bound is lower would have its service stopped by the first client that asks for what takes longest.

use std::path::{Path, PathBuf};

use manager::standard::{Account, PAGES, POOL_BYTES, POOLS};
use manager::{HandOver, HandOverError};
use manifest::{Board, BoardFile, Domain, Manifest, Refusal, Size, Time};
use place::Placed;

/// The threads that a call of a gate can wake, by the gate's function. A gate's bound pays for each (docs/time.md, rule (f)): the kernel refuses to wake one whose
/// activation is more than what is left of the bound.
const WAKES: [(&str, u64); 1] = [("console_write", 1)];

/// The services, as far as the board of a system says what they take.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    /// Their directory.
    pub(crate) directory: PathBuf,
    /// The function of a gate, the cycles of its longest call, and where that stands.
    longest: Vec<(String, u64, String)>,
}

impl Services {
    /// What a board says of them in a profile; in one that it does not name, the largest number of cycles that it says of any.
    pub(crate) fn new(directory: PathBuf, board: &BoardFile, profile: &str) -> Services {
        let longest = board.service.iter().filter_map(|(entry, profiles)| {
            let (name, cycles) =
                profiles.get_key_value(profile).or_else(|| profiles.iter().max_by_key(|(_, cycles)| **cycles))?;
            Some((entry.clone(), *cycles, format!("service.{entry}.{name} of the board `{}`", board.name)))
        });
        Services { directory, longest: longest.collect() }
    }

    /// Gates of services with a bound below what their longest call takes. `package` is the directory of a path in the manifest.
    pub(crate) fn refused(
        &self,
        manifest: &Manifest,
        board: &Board,
        package: impl Fn(&str) -> PathBuf,
    ) -> Vec<Refusal> {
        let mut found = Vec::new();
        for (name, domain) in &manifest.domain {
            if !self.run_in(domain, &package) {
                continue;
            }
            for (gate, declared) in &domain.gate {
                let known = self.longest.iter().find(|(entry, ..)| *entry == declared.entry);
                let Some((_, cycles, place)) = known else { continue };
                let wakes = WAKES.iter().find(|(entry, _)| *entry == declared.entry).map_or(0, |(_, count)| *count);
                let woken = wakes * u64::from(board.switching().activation());
                let own = microseconds(*cycles, board.chip.cpu_hz);
                let least = Time((own + microseconds(woken, board.ticks_per_second.into())) * 1000);
                if declared.bound < least {
                    found.push(too_low(&format!("domain.{name}.gate.{gate}.bound"), declared.bound, least, place));
                }
            }
        }
        found
    }

    /// Opens the manager's account as the service does at its start, with the same code and tables of the same sizes. Otherwise it would end there, and its clients
    /// would have no memory. A manager of one's own can have other tables.
    pub(crate) fn opens(
        &self,
        manifest: &Manifest,
        placed: &Placed,
        package: impl Fn(&str) -> PathBuf,
    ) -> Option<Refusal> {
        let mut domains = manifest.domain.iter();
        let (name, _) = domains.find(|(_, domain)| domain.ledger && self.run_in(domain, &package))?;
        let mut account = Box::new(Account::closed());
        let error = account.open(HandOver::new(placed.hand_over.as_deref()?)).err()?;
        let pools = placed.ledger.pools().len();
        let (value, limit) = match error {
            HandOverError::Pools => (format!("{pools} ranges of frames"), format!("{POOLS} ranges of frames")),
            _ => (
                "its ranges of frames".to_owned(),
                format!("{PAGES} pages in each, and an aligned {} around it", Size(POOL_BYTES)),
            ),
        };
        let refusal = Refusal::at("CF0208", format!("domain.{name}.ledger"), format!("`{name}` would not start"));
        Some(
            refusal
                .value(format!("{value}: {}", error.text()))
                .limit(limit)
                .rule("the memory manager's tables have fixed sizes")
                .remedy("give it fewer ranges, or smaller ones, in [frames]"),
        )
    }

    /// Whether the program of a domain is one of them.
    fn run_in(&self, domain: &Domain, package: impl Fn(&str) -> PathBuf) -> bool {
        domain.package.as_ref().is_some_and(|own| self.has(&package(&own.path)))
    }

    /// Whether a package is one of them.
    fn has(&self, package: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        real(package).zip(real(&self.directory)).is_some_and(|(package, all)| package.starts_with(all))
    }
}

fn too_low(at: &str, bound: Time, least: Time, place: &str) -> Refusal {
    Refusal::at("CF0417", at, "a call of this gate can take longer than its bound")
        .value(bound.to_string())
        .limit(format!("{least} ({place})"))
        .rule("a gate of a service that comes with Cofferdam has at least the bound that its longest call needs on the board, in the profile, with an activation of each thread that it wakes")
        .remedy(format!("write `bound = \"{least}\"`, or more"))
}

/// Whole microseconds that hold so many cycles, or ticks, of this frequency.
fn microseconds(cycles: u64, hz: u64) -> u64 {
    (u128::from(cycles) * 1_000_000).div_ceil(hz.max(1).into()) as u64
}
