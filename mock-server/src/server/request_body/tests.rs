//! Bodies that are too large, cut short, or anything at all.

use http::HeaderValue;
use http_body_util::{Full, StreamBody};
use hyper::body::Frame;
use proptest::prelude::*;

use super::*;

fn headers(coding: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_str(coding).unwrap());
    headers
}

async fn read_whole(bytes: &[u8], coding: &str, limit: usize) -> RequestBody {
    read(Full::new(Bytes::copy_from_slice(bytes)), &headers(coding), limit).await
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let fits = read_whole(&[7; 100], "identity", 100).await;
    assert_eq!((fits.bytes.len(), fits.problem), (100, None));
    let too_large = read_whole(&[7; 101], "identity", 100).await;
    assert_eq!(too_large.problem, Some(BodyProblem::TooLarge { limit: 100 }));
    assert_eq!(too_large.bytes.len(), 100, "what fits is kept");
}

#[tokio::test]
async fn a_small_body_that_decodes_to_a_large_one_is_refused() {
    let bomb = zstd::encode_all(vec![0; 100_000].as_slice(), 3).unwrap();
    assert!(bomb.len() < 1000);
    let refused = read_whole(&bomb, "zstd", 1000).await;
    assert_eq!(refused.problem, Some(BodyProblem::TooLarge { limit: 1000 }));
    assert_eq!(refused.bytes, bomb);
    let fits = read_whole(&bomb, "zstd", 100_000).await;
    assert_eq!((fits.bytes.len(), fits.problem), (100_000, None));
}

#[tokio::test]
async fn a_body_that_breaks_off_keeps_what_came() {
    let frames = [Ok(Frame::data(Bytes::from_static(b"half"))), Err(io::Error::other("gone"))];
    let body = StreamBody::new(futures_util::stream::iter(frames));
    let read = read(body, &HeaderMap::new(), 100).await;
    assert_eq!(read.bytes, "half");
    assert_eq!(read.problem, Some(BodyProblem::Broken("gone".to_owned())));
}

proptest! {
    /// Whatever arrives, reading it ends in a body or a problem, and bytes that could not be
    /// decoded are kept.
    #[test]
    fn any_bytes_can_be_read_or_are_kept_as_they_came(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        coding in prop_oneof![
            Just("zstd".to_owned()),
            Just("gzip".to_owned()),
            Just("deflate".to_owned()),
            Just("gzip, zstd".to_owned()),
            "[a-z, ]{0,12}",
        ],
    ) {
        let read = block_on(read_whole(&bytes, &coding, 200));
        prop_assert!(read.bytes.len() <= 200 || read.problem.is_some());
        match &read.problem {
            Some(BodyProblem::TooLarge { .. }) if bytes.len() > 200 => {
                prop_assert_eq!(&read.bytes[..], &bytes[..200]);
            }
            Some(_) => prop_assert_eq!(&read.bytes[..], &bytes[..]),
            None => {}
        }
    }

    /// What one encoder wrote, this reads back.
    #[test]
    fn encoded_bytes_are_read_back(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let encoded = zstd::encode_all(bytes.as_slice(), 1).unwrap();
        let read = block_on(read_whole(&encoded, "zstd", 1000));
        prop_assert_eq!(read.problem, None);
        prop_assert_eq!(&read.bytes[..], &bytes[..]);
    }
}
