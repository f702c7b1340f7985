//! Restricts this process and its children with Landlock: files, processes and sockets.

use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, ensure};
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};

use super::grants::{Access, Grant};

/// The restrictions that are used if the kernel supports them: files and other processes' memory since version 1, signals
/// and abstract sockets since version 6, pathname sockets since version 9.
const HANDLED_ABI: ABI = ABI::V9;
const MIN_ABI: ABI = ABI::V1;

pub(super) fn is_available() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.handle_access(AccessFs::from_all(MIN_ABI)).and_then(Ruleset::create).is_ok()
}

/// Restricts this thread, which must be the only one, to what is granted.
pub(super) fn restrict(grants: &[Grant]) -> anyhow::Result<()> {
    drop_capabilities().context("cannot give up the capabilities of root")?;
    let ruleset =
        Ruleset::default().handle_access(AccessFs::from_all(HANDLED_ABI))?.scope(Scope::from_all(HANDLED_ABI))?;
    let mut ruleset = ruleset.create().context("Landlock is not available")?;
    for grant in grants {
        if let Some((file, is_folder)) = open_without_links(&grant.path) {
            let rights = rights(grant.access, is_folder);
            // Ignore errors: a rule that the kernel rejects only grants less.
            let _ = (&mut ruleset).add_rule(PathBeneath::new(file, rights));
        }
    }
    let status = ruleset.restrict_self().context("Landlock cannot be enforced")?;
    ensure!(status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs, "Landlock was not enforced");
    Ok(())
}

fn rights(access: Access, is_folder: bool) -> BitFlags<AccessFs> {
    let rights = match access {
        Access::Read => AccessFs::from_read(HANDLED_ABI),
        // Creating a device would give access to the disk itself.
        Access::Write => AccessFs::from_all(HANDLED_ABI) & !(AccessFs::MakeBlock | AccessFs::MakeChar),
    };
    if is_folder { rights } else { rights & AccessFs::from_file(HANDLED_ABI) }
}

/// Opens the file itself, never a link's target, even if an earlier agent has replaced it by a link.
fn open_without_links(path: &Path) -> Option<(OwnedFd, bool)> {
    let file = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let kind = FileType::from_raw_mode(fstat(&file).ok()?.st_mode);
    (kind != FileType::Symlink).then_some((file, kind == FileType::Directory))
}

/// Drops all of root's capabilities except those for files and users. The others bypass Landlock: raw sockets see the
/// server's traffic with its keys, and the kernel's memory contains everything.
fn drop_capabilities() -> rustix::io::Result<()> {
    let kept = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER
        | CapabilitySet::FSETID
        | CapabilitySet::SETGID
        | CapabilitySet::SETUID
        | CapabilitySet::NET_BIND_SERVICE;
    let now = capabilities(None)?;
    if now.permitted.is_empty() {
        return Ok(());
    }
    // If this is not permitted, `no_new_privs` prevents regaining them.
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if !kept.contains(capability) {
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    let _ = clear_ambient_capability_set();
    let permitted = now.permitted & kept;
    set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() })
}
