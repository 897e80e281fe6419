//! The table `[foreign]` of a board file: addresses that no domain gets, by what is there. The conformance and attack suites try them.

use serde_derive::Deserialize;

/// An address, by what is there: a memory or a device of the file and an offset, or a number where nothing is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    memory: Option<String>,
    device: Option<String>,
    address: Option<u32>,
    /// Bytes from the start of the memory or device.
    #[serde(default)]
    offset: u32,
    #[serde(default)]
    seen_by: Viewer,
}

/// At whose address. A thing that only the kernel has mapped is at the kernel's address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Viewer {
    /// The address in the domains' spaces.
    #[default]
    Domain,
    /// The address in the kernel's mapping.
    Kernel,
}

/// The thing that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A memory.
    Memory(&'a str),
    /// A device.
    Device(&'a str),
    /// A number.
    Address(u32),
}

impl Reference {
    /// The thing that it names, the offset from there, and whose address is meant.
    ///
    /// # Errors
    /// A text: it does not name exactly one thing.
    pub fn named(&self) -> Result<(Named<'_>, u32, Viewer), String> {
        let named = match (&self.memory, &self.device, self.address) {
            (Some(memory), None, None) => Named::Memory(memory),
            (None, Some(device), None) => Named::Device(device),
            (None, None, Some(address)) if self.offset == 0 => Named::Address(address),
            _ => return Err("a memory or a device with an offset, or an address".into()),
        };
        Ok((named, self.offset, self.seen_by))
    }

    fn check(&self, bytes_of: impl Fn(Named<'_>) -> Option<u32>) -> Result<(), String> {
        let (named, offset, _) = self.named()?;
        let (what, name) = match named {
            Named::Memory(name) => ("memory", name),
            Named::Device(name) => ("device", name),
            Named::Address(_) => return Ok(()),
        };
        let bytes = bytes_of(named).ok_or_else(|| format!("no {what} `{name}`"))?;
        if offset < bytes { Ok(()) } else { Err(format!("{offset:#x} lies behind the {what} `{name}`")) }
    }
}

/// A name of the table with what it means, and its reference if the file has one.
pub(crate) type Entry<'a> = (&'static str, &'static str, Option<&'a Reference>);

macro_rules! places {
    (
        needed { $(#[doc = $about:literal] $name:ident,)* }
        optional { $(#[doc = $optional_about:literal] $optional:ident,)* }
    ) => {
        /// The table. Suites can be run on a board whose file has one.
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Foreign {
            $(#[doc = $about] pub $name: Reference,)*
            $(#[doc = $optional_about] pub $optional: Option<Reference>,)*
        }

        impl Foreign {
            /// The names that every table has.
            pub(crate) fn needed(&self) -> impl Iterator<Item = Entry<'_>> {
                [$((stringify!($name), $about, Some(&self.$name))),*].into_iter()
            }

            /// The names that a table may lack.
            pub(crate) fn optional(&self) -> impl Iterator<Item = Entry<'_>> {
                [$((stringify!($optional), $optional_about, self.$optional.as_ref())),*].into_iter()
            }
        }

        /// Names and meanings, for a program that has no table at hand: those that every table has, and those that it may lack.
        pub(crate) const NAMES: (&[(&str, &str)], &[(&str, &str)]) =
            (&[$((stringify!($name), $about)),*], &[$((stringify!($optional), $optional_about)),*]);
    };
}

places! {
    needed {
        /// Code of the kernel: its first instructions or vectors.
        kernel_code,
        /// Data of the kernel.
        kernel_data,
        /// Objects of the kernel, in its data.
        kernel_objects,
        /// Memory that holds the kernel's tables.
        kernel_tables,
        /// A device that the kernel keeps.
        kernel_device,
        /// A register with which the kernel's timer could be stopped.
        kernel_timer,
        /// The first of the registers of the core itself that lie in its address space.
        core,
        /// The console's transmitter.
        console,
        /// A device that no domain of the conformance suite is given.
        other_device,
        /// Memory that holds heaps of domains.
        heaps,
        /// Address at which manifests of the attack suite place data of other domains.
        placed,
        /// Nothing, or nothing that a domain of the conformance suite is given.
        nowhere,
    }
    optional {
        /// Registers of a cache outside of the core.
        outer_cache,
        /// Address on the chip at which manifests of the attack suite place data of other domains.
        placed_on_chip,
        /// Address from which the conformance suite maps memory while it runs, on boards that translate addresses: every domain has it free.
        window,
    }
}

impl Foreign {
    /// Whether every reference names something of the board; `bytes_of` tells the size of a memory or a device.
    ///
    /// # Errors
    /// A text that begins with the name of the first that does not.
    pub fn check(&self, bytes_of: impl Fn(Named<'_>) -> Option<u32>) -> Result<(), String> {
        for (name, _, reference) in self.needed().chain(self.optional()) {
            let Some(reference) = reference else { continue };
            reference.check(&bytes_of).map_err(|why| format!("foreign.{name}: {why}"))?;
        }
        Ok(())
    }
}
