//! A network namespace with loopback alone, for the keeper that calls this.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recvmsg, sendmsg,
    socket,
};
use nix::unistd::{getegid, geteuid};

/// The kernel's number of the loopback interface, the same in every namespace.
const LOOPBACK: i32 = 1;

/// Why there is no network namespace; the text ends with what can be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum NetworkError {
    #[error(
        "the kernel refuses a network namespace to this user ({0}); run as root, or let this user make user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, or the container's seccomp profile)"
    )]
    Refused(Errno),
    #[error(
        "no further namespaces are allowed ({0}); raise sysctl user.max_user_namespaces and user.max_net_namespaces"
    )]
    Exhausted(Errno),
    #[error("cannot map the user in its namespace: {0}; run as root")]
    Map(std::io::Error),
    #[error(
        "cannot bring up loopback in the namespace ({0}); run as root, or let user namespaces have their capabilities (sysctl kernel.apparmor_restrict_unprivileged_userns=0)"
    )]
    Loopback(Errno),
}

/// Moves the calling process, which must have one thread, into a network of its own.
///
/// With privilege only the network changes. Without, a user namespace comes with it, in which the
/// user and the group are mapped to themselves, so that files look as they did.
pub(super) fn enter() -> Result<(), NetworkError> {
    let (user, group) = (geteuid(), getegid());
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).map_err(
            |errno| match errno {
                Errno::ENOSPC | Errno::EUSERS => NetworkError::Exhausted(errno),
                _ => NetworkError::Refused(errno),
            },
        )?;
        let write = |file: &str, text: String| {
            std::fs::write(format!("/proc/self/{file}"), text).map_err(NetworkError::Map)
        };
        // The kernel takes a group map from an unprivileged process only after this.
        write("setgroups", "deny".to_owned())?;
        write("uid_map", format!("{user} {user} 1"))?;
        write("gid_map", format!("{group} {group} 1"))?;
    }
    bring_up_loopback().map_err(NetworkError::Loopback)
}

/// Sets the interface flag `IFF_UP` by one rtnetlink message (`man 7 rtnetlink`, `RTM_NEWLINK`).
fn bring_up_loopback() -> Result<(), Errno> {
    let netlink = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    let message = set_up_message(LOOPBACK);
    sendmsg::<NetlinkAddr>(
        netlink.as_raw_fd(),
        &[IoSlice::new(&message)],
        &[],
        MsgFlags::empty(),
        Some(&NetlinkAddr::new(0, 0)),
    )?;
    let mut answer = [0_u8; 256];
    let bytes = {
        let mut parts = [IoSliceMut::new(&mut answer)];
        recvmsg::<NetlinkAddr>(netlink.as_raw_fd(), &mut parts, None, MsgFlags::empty())?.bytes
    };
    // struct nlmsghdr (16 bytes), then the error as a negative i32; 0 acknowledges.
    let code = answer
        .get(16..20)
        .filter(|_| bytes >= 20)
        .and_then(|code| <[u8; 4]>::try_from(code).ok())
        .map_or(-(Errno::EBADMSG as i32), i32::from_ne_bytes);
    if code == 0 { Ok(()) } else { Err(Errno::from_raw(-code)) }
}

/// `struct nlmsghdr` and `struct ifinfomsg`, asking for an acknowledgement.
fn set_up_message(interface: i32) -> Vec<u8> {
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST_AND_ACK: u16 = 0x1 | 0x4;
    const IFF_UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST_AND_ACK.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes()); // sequence number
    message.extend(0_u32.to_ne_bytes()); // port: the kernel's choice
    message.extend([0_u8; 4]); // family, padding, device type: any
    message.extend(interface.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes()); // flags
    message.extend(IFF_UP.to_ne_bytes()); // which flags to change
    message
}
