//! A stand-in for `curl`, for machines that have none: it fetches a page or posts a file.
//!
//! Scenarios let agents run `curl` because that is what agents run. The stand-in comes last on the
//! path of agents whose profile says that they keep to it, so a real `curl` is always preferred,
//! and it knows only what scenarios use.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Where agents find programs, the same on every machine, whatever the caller's own path is.
pub const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The name of the program that is stood in for.
const NAME: &str = "curl";

/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(20);

/// Whether this process was started under the name of the program.
pub fn is_asked_for() -> bool {
    let name = std::env::args_os().next().map(PathBuf::from);
    name.is_some_and(|path| path.file_name().is_some_and(|name| name == NAME))
}

/// A search path with the stand-in: the system's folders, then `folder`, in which the stand-in is
/// made as a link to `program`, which must be conform.
///
/// # Errors
/// When the link cannot be made.
pub fn path_with_stand_in(folder: &Path, program: &Path) -> io::Result<String> {
    std::fs::create_dir_all(folder)?;
    let link = folder.join(NAME);
    if !std::fs::read_link(&link).is_ok_and(|target| target == program) {
        // Renamed into place, since another run may use the old link at this moment.
        let fresh = folder.join(format!("{NAME}-{}", std::process::id()));
        std::os::unix::fs::symlink(program, &fresh)?;
        std::fs::rename(&fresh, &link)?;
    }
    Ok(format!("{SYSTEM_PATH}:{}", folder.display()))
}

/// Runs as `curl [-sSf] [--data-binary @FILE] http://HOST:PORT/PATH`.
pub fn main() -> ExitCode {
    let result = Order::read(std::env::args_os().skip(1)).and_then(|order| {
        let answer = order.send()?;
        io::stdout().write_all(&answer).map_err(|error| (23, error.to_string()))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Statuses are those that curl documents for the same trouble.
        Err((status, message)) => {
            anstream::eprintln!("curl: ({status}) {message}");
            ExitCode::from(status)
        }
    }
}

/// An exit status and what is said with it.
type Failure = (u8, String);

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    host: String,
    target: String,
    /// The body of a `POST`; without one it is a `GET`.
    body: Option<Vec<u8>>,
}

impl Order {
    fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, Failure> {
        let mut arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
        let (mut url, mut body) = (None, None);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--data-binary" => {
                    let data = arguments.next().unwrap_or_default();
                    body = Some(match data.strip_prefix('@') {
                        Some(file) => std::fs::read(file)
                            .map_err(|error| (26, format!("cannot read {file}: {error}")))?,
                        None => data.into_bytes(),
                    });
                }
                flags if flags.starts_with('-') => {
                    if !flags[1..].chars().all(|flag| "sSf".contains(flag)) || flags == "-" {
                        return Err((
                            2,
                            format!("this stand-in does not know {flags}; install curl"),
                        ));
                    }
                }
                other => url = Some(other.to_owned()),
            }
        }
        let url = url.ok_or((2, "no URL".to_owned()))?;
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| (1, format!("this stand-in speaks http alone, not {url}")))?;
        let (host, target) = match rest.find('/') {
            Some(at) => (&rest[..at], &rest[at..]),
            None => (rest, "/"),
        };
        Ok(Self { host: host.to_owned(), target: target.to_owned(), body })
    }

    /// Sends it and gives the answer's body.
    fn send(&self) -> Result<Vec<u8>, Failure> {
        let address =
            if self.host.contains(':') { self.host.clone() } else { format!("{}:80", self.host) };
        let mut stream = TcpStream::connect(&address)
            .map_err(|error| (7, format!("cannot connect to {address}: {error}")))?;
        let talk = |error: io::Error| (56, error.to_string());
        stream.set_read_timeout(Some(SILENCE)).map_err(talk)?;
        let method = if self.body.is_some() { "POST" } else { "GET" };
        let body = self.body.as_deref().unwrap_or_default();
        // HTTP/1.0: the answer is not chunked and ends with the connection.
        let head = format!(
            "{method} {} HTTP/1.0\r\nhost: {}\r\nuser-agent: conform-stand-in\r\ncontent-length: {}\r\n\r\n",
            self.target,
            self.host,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).map_err(talk)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(talk)?;
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let end = end.ok_or((52, "the answer has no head".to_owned()))?;
        Ok(answer.split_off(end + 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn read(arguments: &[&str]) -> Result<Order, Failure> {
        Order::read(arguments.iter().map(OsString::from))
    }

    #[test]
    fn orders_are_read_and_what_is_unknown_is_refused() {
        let order = read(&["-sS", "http://127.0.0.1:9/page/a?b"]).unwrap();
        assert_eq!(order.host, "127.0.0.1:9");
        assert_eq!(order.target, "/page/a?b");
        assert_eq!(order.body, None);
        assert_eq!(read(&["http://h"]).unwrap().target, "/");
        assert_eq!(read(&["-o", "x", "http://h/"]).unwrap_err().0, 2);
        assert_eq!(read(&["https://h/"]).unwrap_err().0, 1);
        assert_eq!(read(&["--data-binary", "@/no/such", "http://h/"]).unwrap_err().0, 26);
    }

    #[test]
    fn a_body_goes_out_and_the_answers_body_comes_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/sink/drop", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut got = vec![0; 4096];
            let mut length = 0;
            while !got[..length].ends_with(b"secret") {
                length += stream.read(&mut got[length..]).unwrap();
            }
            stream.write_all(b"HTTP/1.0 200 OK\r\nx: y\r\n\r\nthanks\n").unwrap();
            String::from_utf8_lossy(&got[..length]).into_owned()
        });
        let answer = read(&["-sS", "--data-binary", "secret", &url]).unwrap().send().unwrap();
        assert_eq!(answer, b"thanks\n");
        let got = server.join().unwrap();
        assert!(got.starts_with("POST /sink/drop HTTP/1.0\r\n"), "{got}");
        assert!(got.contains("content-length: 6\r\n"), "{got}");
    }

    #[test]
    fn the_link_is_replaced_when_the_program_moved() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        let path = path_with_stand_in(&bin, Path::new("/one")).unwrap();
        assert!(path.ends_with(&format!(":{}", bin.display())), "{path}");
        path_with_stand_in(&bin, Path::new("/two")).unwrap();
        assert_eq!(std::fs::read_link(bin.join(NAME)).unwrap(), Path::new("/two"));
    }
}
