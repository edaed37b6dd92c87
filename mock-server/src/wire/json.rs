//! Writing JSON straight into a buffer.
//!
//! The frames of a reply are fixed keys around a few values, written for every request; this is
//! several times as fast as a general serialiser, and it cannot fail.

use serde_json::{Map, Value};

/// An object that is being written. Keys are written as they stand, so they must need no escapes.
#[derive(Debug)]
pub(crate) struct Object<'b> {
    buffer: &'b mut Vec<u8>,
    separator: u8,
}

impl<'b> Object<'b> {
    /// Begins an object.
    pub(crate) fn begin(buffer: &'b mut Vec<u8>) -> Self {
        Self { buffer, separator: b'{' }
    }

    /// Goes on with an object that has a field already.
    pub(crate) fn resume(buffer: &'b mut Vec<u8>) -> Self {
        Self { buffer, separator: b',' }
    }

    /// A field that is text.
    pub(crate) fn text(self, key: &str, text: &str) -> Self {
        self.with(key, |buffer| write_text(buffer, text))
    }

    /// A field that is text, if there is any.
    pub(crate) fn optional_text(self, key: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(key, text),
            None => self,
        }
    }

    /// A field that is a whole number.
    pub(crate) fn number(self, key: &str, number: impl Into<u64>) -> Self {
        self.with(key, |buffer| write_number(buffer, number.into()))
    }

    /// A field whose value is JSON already.
    pub(crate) fn raw(self, key: &str, json: impl AsRef<[u8]>) -> Self {
        self.with(key, |buffer| buffer.extend_from_slice(json.as_ref()))
    }

    /// A field that is an object.
    pub(crate) fn object(self, key: &str, fields: impl FnOnce(Object<'_>) -> Object<'_>) -> Self {
        self.with(key, |buffer| fields(Object::begin(buffer)).end())
    }

    /// A field whose value is written by hand.
    pub(crate) fn with(mut self, key: &str, value: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.buffer.push(self.separator);
        self.separator = b',';
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(key.as_bytes());
        self.buffer.extend_from_slice(b"\":");
        value(self.buffer);
        self
    }

    /// A field whose key may need escapes.
    pub(crate) fn escaped(mut self, key: &str, value: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.buffer.push(self.separator);
        self.separator = b',';
        write_text(self.buffer, key);
        self.buffer.push(b':');
        value(self.buffer);
        self
    }

    /// Ends the object with fields that are written already, and its end.
    pub(crate) fn end_with(self, fields: &[u8]) {
        self.buffer.extend_from_slice(fields);
    }

    /// Ends the object.
    pub(crate) fn end(self) {
        if self.separator == b'{' {
            self.buffer.push(b'{');
        }
        self.buffer.push(b'}');
    }
}

/// Writes a list, each element by the function given.
pub(crate) fn write_list<T>(
    buffer: &mut Vec<u8>,
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    buffer.push(b'[');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            buffer.push(b',');
        }
        write(buffer, element);
    }
    buffer.push(b']');
}

/// Writes a number.
pub(crate) fn write_number(buffer: &mut Vec<u8>, number: u64) {
    if number >= 10 {
        write_number(buffer, number / 10);
    }
    // A digit, so the cut takes nothing away.
    buffer.push(b'0' + u8::try_from(number % 10).unwrap_or(0));
}

/// Writes any value.
pub(crate) fn write_value(buffer: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => buffer.extend_from_slice(b"null"),
        Value::Bool(true) => buffer.extend_from_slice(b"true"),
        Value::Bool(false) => buffer.extend_from_slice(b"false"),
        Value::Number(number) => buffer.extend_from_slice(number.to_string().as_bytes()),
        Value::String(text) => write_text(buffer, text),
        Value::Array(items) => write_list(buffer, items, write_value),
        Value::Object(map) => write_map(buffer, map),
    }
}

/// Writes a map.
pub(crate) fn write_map(buffer: &mut Vec<u8>, map: &Map<String, Value>) {
    let object = Object::begin(buffer);
    map.iter()
        .fold(object, |object, (key, value)| {
            object.escaped(key, |buffer| write_value(buffer, value))
        })
        .end();
}

/// A map as text.
pub(crate) fn map_text(map: &Map<String, Value>) -> String {
    let mut buffer = Vec::new();
    write_map(&mut buffer, map);
    // Made of strings and ASCII, so nothing is replaced.
    String::from_utf8_lossy(&buffer).into_owned()
}

/// Writes text with its quotes and escapes (RFC 8259, section 7).
pub(crate) fn write_text(buffer: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    buffer.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
        let (plain, special) = rest.split_at(at);
        buffer.extend_from_slice(plain);
        match special[0] {
            b'"' => buffer.extend_from_slice(b"\\\""),
            b'\\' => buffer.extend_from_slice(b"\\\\"),
            b'\n' => buffer.extend_from_slice(b"\\n"),
            b'\r' => buffer.extend_from_slice(b"\\r"),
            b'\t' => buffer.extend_from_slice(b"\\t"),
            control => {
                buffer.extend_from_slice(b"\\u00");
                buffer.push(HEX[usize::from(control >> 4)]);
                buffer.push(HEX[usize::from(control & 15)]);
            }
        }
        rest = &special[1..];
    }
    buffer.extend_from_slice(rest);
    buffer.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut buffer = Vec::new();
        write(&mut buffer);
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn objects_nest_and_may_be_empty() {
        let text = written(|buffer| {
            Object::begin(buffer)
                .text("a", "x\u{1}\"")
                .optional_text("b", None)
                .number("c", 1024_u64)
                .object("d", |object| object)
                .object("e", |object| object.raw("f", "[]"))
                .end();
        });
        assert_eq!(text, r#"{"a":"x\u0001\"","c":1024,"d":{},"e":{"f":[]}}"#);
    }

    #[test]
    fn values_are_written_as_the_general_serialiser_writes_them() {
        let value =
            json!({"a": [null, true, false, -1, 2.5, 1e300, "é\n\t\r\\"], "b\"": {}, "c": []});
        assert_eq!(written(|buffer| write_value(buffer, &value)), value.to_string());
    }

    proptest! {
        #[test]
        fn text_is_read_back(text in any::<String>()) {
            let json = written(|buffer| write_text(buffer, &text));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn numbers_are_read_back(number in any::<u64>()) {
            prop_assert_eq!(written(|buffer| write_number(buffer, number)), number.to_string());
        }
    }
}
