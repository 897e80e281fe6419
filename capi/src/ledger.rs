//! The admission ledger, for memory that has its place already: registers, tables and misses.

use spec::{
    Account, Charge, Grant, Hardware, Ledger, MemoryClass, NoFrames, Opening, Platform, Refusal, Regions, Request,
    TablePlace, TemporalSpec,
};

use crate::pointer::{Object, Out, read, read_all, write_all};
use crate::status::{Status, status_of};

/// `CFM_LEDGER_TASKS`: tasks of one ledger.
pub const LEDGER_TASKS: usize = 32;
/// `CFM_LEDGER_DWORDS`: 64-bit words of a ledger.
pub const LEDGER_DWORDS: usize = 288;
/// `CFM_LEDGER_BYTES`: most bytes of a saved ledger.
pub const LEDGER_BYTES: usize = spec::block_bytes(LEDGER_TASKS, 0);

/// A level, independent, constant time.
const SPEC_MOST: u32 = 31;

/// A ledger without pools of frames.
type Own = Ledger<LEDGER_TASKS, 0>;

/// `cfm_ledger`.
pub type CfmLedger = Object<Own, { u32::from_le_bytes(*b"cfml") }>;

const _: () = assert!(size_of::<CfmLedger>() <= LEDGER_DWORDS * 8 && align_of::<CfmLedger>() <= 8);

/// `cfm_platform`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfmPlatform {
    /// Region registers of a task.
    pub registers: u32,
    /// Registers that must serve paged memory once data is paged.
    pub slots_for_data: u32,
    /// Registers beyond these once code is paged.
    pub slots_for_code: u32,
    /// Most cycles of a miss with the table in tightly coupled memory; 0 where there is none.
    pub l1_cycles: u32,
    /// The same in other memory of the chip.
    pub l2_cycles: u32,
}

/// `cfm_request`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfmRequest {
    /// The task.
    pub task: u32,
    /// The requested specification.
    pub spec: u32,
    /// Not 0: the memory is executed.
    pub code: u32,
    /// Registers that cover it, if it is pinned.
    pub registers: u32,
    /// Bytes of nodes and leaves, if it is paged.
    pub table_bytes: u32,
    /// Misses in a period that it adds.
    pub misses: u32,
}

/// `cfm_grant`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmGrant {
    /// The task.
    pub task: u32,
    /// The requested specification.
    pub spec: u32,
    /// The level that is promised.
    pub level: u32,
    /// Cycles that the check adds to one access at most.
    pub cycles: u32,
    /// How the bound was found.
    pub method: u32,
    /// 1: the memory is executed.
    pub code: u32,
    /// Pinned registers, or 0 when it is paged.
    pub registers: u32,
    /// Bytes of the table.
    pub table_bytes: u32,
    /// Misses in a period.
    pub misses: u32,
}

/// `cfm_denial`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmDenial {
    /// The rule's number.
    pub rule: u32,
    /// The requested amount, in the rule's unit.
    pub asked: u32,
    /// The amount that is left, in the rule's unit.
    pub left: u32,
    /// The kind of change that would be admitted.
    pub change: u32,
    /// Its value.
    pub value: u32,
}

/// `cfm_account`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmAccount {
    /// Registers that are pinned.
    pub pinned: u32,
    /// Paged areas.
    pub paged: u32,
    /// Bytes of the table.
    pub table_bytes: u32,
    /// Bytes of it that are promised.
    pub table_used: u32,
    /// Misses in a period; `u32::MAX` without a budget.
    pub misses: u32,
    /// Misses that are promised.
    pub misses_used: u32,
}

impl From<Refusal> for CfmDenial {
    fn from(refusal: Refusal) -> Self {
        let (change, value) = refusal.change.numbers();
        Self { rule: refusal.rule.number(), asked: refusal.asked, left: refusal.left, change, value }
    }
}

impl From<&Account> for CfmAccount {
    fn from(account: &Account) -> Self {
        Self {
            pinned: account.slots.used,
            paged: u32::from(account.code) + u32::from(account.data),
            table_bytes: account.table().total,
            table_used: account.table().used,
            misses: account.misses.total,
            misses_used: account.misses.used,
        }
    }
}

impl From<Grant> for CfmGrant {
    fn from(grant: Grant) -> Self {
        let Charge { domain, code, slots, table_bytes, misses, .. } = grant.charge;
        Self {
            task: domain.into(),
            spec: grant.spec.bits(),
            level: grant.bound.map_or(0, |bound| bound.level as u32),
            cycles: grant.bound.map_or(0, |bound| bound.cycles),
            method: grant.bound.map_or(0, |bound| bound.method as u32),
            code: code.into(),
            registers: slots.into(),
            table_bytes,
            misses,
        }
    }
}

fn byte(value: u32) -> Result<u8, Status> {
    value.try_into().map_err(|_| Status::Argument)
}

fn platform_of(asked: &CfmPlatform) -> Result<Platform, Status> {
    let (data, code) = (byte(asked.slots_for_data)?, byte(asked.slots_for_code)?);
    let registers = byte(asked.registers)?;
    // Sums of these are formed in bytes.
    if registers > 64 || data > 64 || code > 64 {
        return Err(Status::Argument);
    }
    let l1_cycles = (asked.l1_cycles > 0).then_some(asked.l1_cycles);
    let like = Regions::new(registers, l1_cycles, asked.l2_cycles);
    let regions = Regions { slots_for_data: data, slots_for_code: code, ..like };
    let classes = [MemoryClass::Tcm, MemoryClass::OnChip, MemoryClass::OffChip];
    Ok(Platform::new(Hardware::Regions(regions), &classes))
}

fn request_of(asked: &CfmRequest) -> Result<Request, Status> {
    // A place for the data means nothing where the memory is there already.
    if asked.spec > SPEC_MOST {
        return Err(Status::Argument);
    }
    Ok(Request {
        domain: byte(asked.task)?,
        spec: TemporalSpec::from_bits(asked.spec).map_err(|_| Status::Argument)?,
        code: asked.code != 0,
        slots: byte(asked.registers)?,
        table_bytes: asked.table_bytes,
        descriptors: 0,
        misses: asked.misses,
        frames: None,
    })
}

/// Leaves the denial where the caller wants it.
///
/// # Safety
/// As in [the crate's](crate) documentation.
unsafe fn denied(why: Option<Out<CfmDenial>>, refusal: Refusal) -> Status {
    if let Some(why) = why {
        // SAFETY: the caller's duty.
        unsafe { why.put(refusal.into()) };
    }
    Status::Denied
}

/// `cfm_ledger_init`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_ledger_init(
    ledger: *mut CfmLedger,
    platform: *const CfmPlatform,
    tcm_bytes: u32,
    on_chip_bytes: u32,
) -> Status {
    let body = || {
        Out::required(ledger)?;
        // SAFETY: the caller's duty.
        let platform = platform_of(unsafe { read(platform) }?)?;
        // SAFETY: the caller's duty.
        unsafe { CfmLedger::init(ledger, Own::new(platform, [tcm_bytes, on_chip_bytes, 0, 0])) }
    };
    status_of(body())
}

/// `cfm_ledger_open`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_ledger_open(
    ledger: *mut CfmLedger,
    table_class: u32,
    table_bytes: u32,
    misses: u32,
    task: *mut u32,
    why: *mut CfmDenial,
) -> Status {
    let body = || {
        let (task, why) = (Out::required(task)?, Out::optional(why)?);
        let root = match table_class {
            1 => TablePlace::Tcm,
            2 => TablePlace::OnChip,
            _ => return Err(Status::Argument),
        };
        // SAFETY: the caller's duty.
        let ledger = unsafe { CfmLedger::get_mut(ledger) }?;
        let opened = ledger.open(&Opening { misses, ..Opening::new(root, table_bytes) });
        // SAFETY: the caller's duty.
        let opened = opened.map_err(|refusal| unsafe { denied(why, refusal) })?;
        // SAFETY: the caller's duty.
        unsafe { task.put(opened.into()) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_ledger_admit`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_ledger_admit(
    ledger: *mut CfmLedger,
    request: *const CfmRequest,
    out: *mut CfmGrant,
    why: *mut CfmDenial,
) -> Status {
    let body = || {
        let (out, why) = (Out::required(out)?, Out::optional(why)?);
        // SAFETY: the caller's duty.
        let request = request_of(unsafe { read(request) }?)?;
        // SAFETY: the caller's duty.
        let ledger = unsafe { CfmLedger::get_mut(ledger) }?;
        // SAFETY: the caller's duty.
        let grant = ledger.admit(&request, &mut NoFrames).map_err(|refusal| unsafe { denied(why, refusal) })?;
        // SAFETY: the caller's duty.
        unsafe { out.put(grant.into()) };
        Ok(())
    };
    status_of(body())
}

/// The charge of a grant; `None` when the account shows that it holds no such grant.
fn held(ledger: &Own, grant: &CfmGrant) -> Option<Charge> {
    let account = ledger.accounts().get(grant.task as usize)?;
    let areas = if grant.code != 0 { account.code } else { account.data };
    let slots = u8::try_from(grant.registers).ok()?;
    let kept = u32::from(slots) <= account.slots.used
        && (slots > 0 || areas > 0)
        && grant.table_bytes <= account.table().used
        && grant.misses <= account.misses.used;
    kept.then_some(Charge {
        domain: grant.task as u8,
        code: grant.code != 0,
        slots,
        place: account.root,
        table_bytes: grant.table_bytes,
        misses: grant.misses,
        frames: None,
    })
}

/// `cfm_ledger_release`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_ledger_release(ledger: *mut CfmLedger, grant: *const CfmGrant) -> Status {
    let body = || {
        // SAFETY: the caller's duty.
        let (ledger, grant) = unsafe { (CfmLedger::get_mut(ledger)?, read(grant)?) };
        let charge = held(ledger, grant).ok_or(Status::NotGranted)?;
        ledger.release(&charge);
        Ok(())
    };
    status_of(body())
}

/// `cfm_ledger_account`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_ledger_account(ledger: *const CfmLedger, task: u32, out: *mut CfmAccount) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let ledger = unsafe { CfmLedger::get(ledger) }?;
        let account = ledger.accounts().get(task as usize).ok_or(Status::Argument)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(account.into()) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_ledger_save`.
///
/// # Safety
/// As in [the crate's](crate) documentation, with `capacity` bytes at `out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_ledger_save(
    ledger: *const CfmLedger,
    out: *mut u8,
    capacity: u32,
    length: *mut u32,
) -> Status {
    let body = || {
        let length = Out::required(length)?;
        // SAFETY: the caller's duty.
        let (ledger, out) = unsafe { (CfmLedger::get(ledger)?, write_all(out, capacity.min(LEDGER_BYTES as u32))?) };
        let bytes = ledger.encode(out).ok_or(Status::Argument)?;
        // SAFETY: the caller's duty.
        unsafe { length.put(bytes as u32) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_ledger_load`.
///
/// # Safety
/// As in [the crate's](crate) documentation, with `length` bytes at `saved`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_ledger_load(ledger: *mut CfmLedger, saved: *const u8, length: u32) -> Status {
    let body = || {
        Out::required(ledger)?;
        Out::required(saved.cast_mut())?;
        // SAFETY: the caller's duty.
        let saved = unsafe { read_all(saved, length.min(LEDGER_BYTES as u32)) }?;
        let value = Own::decode(saved).map_err(|_| Status::Damaged)?;
        // SAFETY: the caller's duty.
        unsafe { CfmLedger::init(ledger, value) }
    };
    status_of(body())
}
