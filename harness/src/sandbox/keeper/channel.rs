//! Messages over a stream socket: a length (four bytes, little end first), then the fields.
//! Descriptors go with the first byte (`SCM_RIGHTS`, `man 7 unix`).

use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg};

use super::message::{Fields, Message, MessageError};

/// At most this many descriptors go with one message.
const DESCRIPTORS: usize = 3;

/// A message on its way out.
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    /// Writes a message down.
    pub(super) fn new(message: &impl Message) -> Result<Self, MessageError> {
        let mut bytes = vec![0; 4];
        for field in message.fields() {
            bytes.extend(field);
            bytes.push(0);
        }
        let length =
            u32::try_from(bytes.len() - 4).map_err(|_| MessageError("it is over 4 GiB long"))?;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        Ok(Self { bytes, sent: 0 })
    }

    /// Sends as much as the socket takes; the descriptors go with the first part. Whether all is
    /// sent.
    pub(super) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<bool, Errno> {
        let raw: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&raw)];
        let rights = if self.sent == 0 && !raw.is_empty() { &rights[..] } else { &[] };
        let part = [IoSlice::new(&self.bytes[self.sent..])];
        let flags = MsgFlags::MSG_NOSIGNAL;
        self.sent += sendmsg::<UnixAddr>(socket.as_raw_fd(), &part, rights, flags, None)?;
        Ok(self.sent == self.bytes.len())
    }

    /// Sends all of it over a blocking socket.
    pub(super) fn send_all(
        mut self,
        socket: BorrowedFd<'_>,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), Errno> {
        loop {
            match self.send(socket, descriptors) {
                Ok(true) => return Ok(()),
                Ok(false) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

/// What arrived and was not read yet.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
}

impl Inbox {
    /// Receives what is there. The number of bytes; 0 is the end.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        let mut bytes = [0_u8; 16 * 1024];
        let mut control = nix::cmsg_space!([RawFd; DESCRIPTORS]);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let message = recvmsg::<UnixAddr>(
            socket.as_raw_fd(),
            &mut parts,
            Some(&mut control),
            MsgFlags::MSG_CMSG_CLOEXEC,
        )?;
        for control in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(received) = control {
                self.descriptors.extend(received.into_iter().map(own));
            }
        }
        let count = message.bytes;
        self.bytes.extend(&bytes[..count]);
        Ok(count)
    }

    /// The next whole message.
    pub(super) fn next<M: Message>(&mut self) -> Result<Option<M>, MessageError> {
        let Some((length, rest)) = self.bytes.split_first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*length))
            .map_err(|_| MessageError("it is too long"))?;
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let body = body.strip_suffix(&[0]).ok_or(MessageError("it does not end with NUL"))?;
        let is_nul: fn(&u8) -> bool = |byte| *byte == 0;
        let message = M::parse(Fields(body.split(is_nul)), &mut self.descriptors)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }
}

/// Takes a descriptor that the kernel has just made for this process.
#[expect(unsafe_code, reason = "received descriptors come as numbers; nobody else owns them yet")]
fn own(descriptor: RawFd) -> OwnedFd {
    // SAFETY: `recvmsg` has just created this descriptor in this process and returned its number
    // here alone, so nothing else owns or closes it.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use conform_reports::record::Exit;
    use proptest::prelude::*;

    use super::super::message::{LaunchCommand, Reply, Request};
    use super::*;

    fn word() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(1_u8..=255, 0..40)
    }

    proptest! {
        /// Messages arrive as they were sent, in order, with their own descriptors, however the
        /// stream cuts them.
        #[test]
        fn messages_arrive_whole(
            program in word(),
            arguments in prop::collection::vec(word(), 0..5),
            environment in prop::collection::vec(word(), 0..5),
            directory in word(),
            id: u32,
        ) {
            let (here, there) = UnixStream::pair().unwrap();
            let null = std::fs::File::open("/dev/null").unwrap();
            let stdio = || [(); 3].map(|()| OwnedFd::from(null.try_clone().unwrap()));
            let command = LaunchCommand {
                program: program.clone(),
                arguments: arguments.clone(),
                environment: environment.clone(),
                directory: directory.clone(),
            };
            let launch = Request::Launch { id, command, stdio: stdio() };
            for request in [&Request::Sweep, &launch, &Request::Sweep] {
                let streams = match request {
                    Request::Launch { stdio, .. } => stdio.iter().map(AsFd::as_fd).collect(),
                    Request::Sweep => Vec::new(),
                };
                Outgoing::new(request).unwrap().send_all(here.as_fd(), &streams).unwrap();
            }
            drop(here);
            let mut inbox = Inbox::default();
            while inbox.receive(there.as_fd()).unwrap() > 0 {}
            prop_assert!(matches!(inbox.next().unwrap(), Some(Request::Sweep)));
            let Some(Request::Launch { id: seen, command, .. }) = inbox.next().unwrap() else {
                panic!("the launch is missing");
            };
            prop_assert_eq!(seen, id);
            let expected = LaunchCommand { program, arguments, environment, directory };
            prop_assert_eq!(command, expected);
            prop_assert!(matches!(inbox.next().unwrap(), Some(Request::Sweep)));
            prop_assert!(inbox.next::<Request>().unwrap().is_none());
            prop_assert!(inbox.descriptors.is_empty());
        }
    }

    #[test]
    fn replies_keep_their_values() {
        let (here, there) = UnixStream::pair().unwrap();
        let exits =
            [Exit::Status { status: 3 }, Exit::Signal { signal: 11 }, Exit::Killed, Exit::Unknown];
        for exit in exits.clone() {
            let reply = Reply::Exited { id: 7, exit };
            Outgoing::new(&reply).unwrap().send_all(here.as_fd(), &[]).unwrap();
        }
        let swept =
            Reply::Swept { leftovers: vec!["sh".to_owned(), String::new()], unkillable: vec![] };
        Outgoing::new(&swept).unwrap().send_all(here.as_fd(), &[]).unwrap();
        drop(here);
        let mut inbox = Inbox::default();
        while inbox.receive(there.as_fd()).unwrap() > 0 {}
        for expected in exits {
            let Some(Reply::Exited { id: 7, exit }) = inbox.next().unwrap() else { panic!() };
            assert_eq!(exit, expected);
        }
        let Some(Reply::Swept { leftovers, unkillable }) = inbox.next().unwrap() else { panic!() };
        assert_eq!(leftovers, ["sh", ""]);
        assert!(unkillable.is_empty());
    }

    #[test]
    fn a_message_in_parts_waits_for_its_rest() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut inbox = Inbox::default();
        let whole = Outgoing::new(&Request::Sweep).unwrap().bytes;
        for byte in &whole[..whole.len() - 1] {
            std::io::Write::write_all(&mut &here, &[*byte]).unwrap();
            inbox.receive(there.as_fd()).unwrap();
            assert!(inbox.next::<Request>().unwrap().is_none());
        }
        std::io::Write::write_all(&mut &here, &[0]).unwrap();
        inbox.receive(there.as_fd()).unwrap();
        assert!(matches!(inbox.next().unwrap(), Some(Request::Sweep)));
    }
}
