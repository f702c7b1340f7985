//! Landlock: a process gives up access to files, processes and sockets, for itself and all that it starts.

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

/// What agents are restricted in where the kernel knows it: files from version 1 on, also other processes' memory; signals
/// and abstract sockets from version 6 on; sockets that are files from version 9 on.
const KNOWN: ABI = ABI::V9;
const LEAST: ABI = ABI::V1;

pub(super) fn is_available() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.handle_access(AccessFs::from_all(LEAST)).and_then(Ruleset::create).is_ok()
}

/// Restricts this thread, which must be the only one, to what is granted.
pub(super) fn restrict(grants: &[Grant]) -> anyhow::Result<()> {
    drop_capabilities().context("cannot give up the capabilities of root")?;
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(KNOWN))?.scope(Scope::from_all(KNOWN))?;
    let mut ruleset = ruleset.create().context("Landlock is not available")?;
    for grant in grants {
        if let Some((file, is_folder)) = opened(&grant.path) {
            let rights = rights(grant.access, is_folder);
            // A rule that the kernel does not take is a permission less.
            let _ = (&mut ruleset).add_rule(PathBeneath::new(file, rights));
        }
    }
    let status = ruleset.restrict_self().context("Landlock cannot be enforced")?;
    ensure!(status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs, "Landlock was not enforced");
    Ok(())
}

fn rights(access: Access, is_folder: bool) -> BitFlags<AccessFs> {
    let rights = match access {
        Access::Read => AccessFs::from_read(KNOWN),
        // A device that the agent makes would be the disk itself.
        Access::Write => AccessFs::from_all(KNOWN) & !(AccessFs::MakeBlock | AccessFs::MakeChar),
    };
    if is_folder { rights } else { rights & AccessFs::from_file(KNOWN) }
}

/// The file itself and no link's target, also if an earlier agent has just put a link in its place.
fn opened(path: &Path) -> Option<(OwnedFd, bool)> {
    let file = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let kind = FileType::from_raw_mode(fstat(&file).ok()?.st_mode);
    (kind != FileType::Symlink).then_some((file, kind == FileType::Directory))
}

/// Of root's capabilities only those remain that concern files and users. The others lead around Landlock: raw sockets see
/// the server's traffic with its keys, and the kernel's memory holds everything.
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
    // Without the right to do this, `no_new_privs` keeps them from coming back.
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
