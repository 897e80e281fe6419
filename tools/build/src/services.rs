//! Bounds of the gates of the services that come with Cofferdam. What their calls take is known for each board and profile, and stands in the board's
//! file; a system whose bound is lower would have its service stopped by the first client that asks for what takes longest.

use std::path::{Path, PathBuf};

use abi::SERVICE_CLIENTS;
use manager::standard::{Account, PAGES, POOL_BYTES, POOLS};
use manager::{HandOver, HandOverError, SUPERVISOR};
use manifest::{Board, BoardFile, Domain, Manifest, Refusal, Size, Time};
use place::Placed;

/// The threads that a call of a gate can wake, by the gate's function. A gate's bound pays for each (docs/time.md, rule (f)): the kernel refuses to wake one whose
/// activation is more than what is left of the bound.
const WAKES: [(&str, u64); 1] = [(CONSOLE, 1)];
/// The console's function.
const CONSOLE: &str = "console_write";

/// Functions of gates that serve only clients with a low badge.
const COUNTED: [&str; 2] = [CONSOLE, "memory_request"];

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

    /// Clients that a service would refuse at each call, because their badge is beyond its tables: what they print would be lost, and they would have no memory.
    pub(crate) fn unserved(&self, manifest: &Manifest, package: impl Fn(&str) -> PathBuf) -> Vec<Refusal> {
        let counted = |gate: &str| {
            let (service, gate) = gate.split_once('.')?;
            let domain = manifest.domain.get(service).filter(|domain| self.run_in(domain, &package))?;
            COUNTED.contains(&domain.gate.get(gate)?.entry.as_str()).then_some(service.to_owned())
        };
        let mut found = Vec::new();
        for (number, (client, domain)) in manifest.domain.iter().enumerate() {
            for (name, used) in &domain.uses {
                let badge = used.badge.unwrap_or(number as u32) & !SUPERVISOR;
                let service = used.gate.as_deref().filter(|_| badge as usize >= SERVICE_CLIENTS).and_then(counted);
                let remedy = match used.badge {
                    Some(_) => format!("write a `badge` below {SERVICE_CLIENTS} that no other client has"),
                    None => "move the domain up in the manifest, before those that do not use the service; or remove this entry".to_owned(),
                };
                let place = format!("domain.{client}.uses.{name}");
                found.extend(service.map(|service| beyond(&place, &service, badge).remedy(remedy)));
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

    /// The number of the domain that runs the console.
    pub(crate) fn console(&self, manifest: &Manifest, package: impl Fn(&str) -> PathBuf) -> Option<usize> {
        let is_console = |domain: &Domain| domain.gate.values().any(|gate| gate.entry == CONSOLE);
        manifest.domain.values().position(|domain| is_console(domain) && self.run_in(domain, &package))
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

fn beyond(at: &str, service: &str, badge: u32) -> Refusal {
    Refusal::at("CF0208", at, format!("`{service}` would serve no call of this client"))
        .value(format!("badge {badge}"))
        .limit(format!("badges 0 to {}", SERVICE_CLIENTS - 1))
        .rule("a service that comes with Cofferdam has room for a fixed number of clients, told apart by their badges: by default the places of their domains in the manifest")
}

/// Whole microseconds that hold so many cycles, or ticks, of this frequency.
fn microseconds(cycles: u64, hz: u64) -> u64 {
    (u128::from(cycles) * 1_000_000).div_ceil(hz.max(1).into()) as u64
}
