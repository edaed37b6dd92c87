//! What a profile says about where an agent comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an agent comes from.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "source")]
pub enum Install {
    /// Built into conform.
    BuiltIn,
    /// A package of the npm registry.
    Npm {
        /// Package name.
        package: String,
        /// The executable, relative to the installation folder; may hold `*` for one path part.
        executable: String,
        /// A program that the package brings compressed with Brotli (RFC 7932), relative to the
        /// installation folder; it is unpacked beside itself, without the ending `.br`.
        #[serde(default)]
        unpack: Option<String>,
        /// The version of the private Node.js that runs it; `None`: it runs by itself.
        #[serde(default)]
        node: Option<String>,
    },
    /// A package of the Python index, in a virtual environment of its own.
    Pip {
        /// Package name.
        package: String,
        /// Versions of Python that will do, such as `3.11`, the best first.
        python: Vec<String>,
        /// Further requirements, each with its version, such as `anthropic==0.87.0`.
        #[serde(default)]
        with: Vec<String>,
        /// The script, relative to the virtual environment, such as `bin/hermes`.
        executable: String,
    },
    /// A program already on the machine.
    Path {
        /// Its path, or a name to be found on `PATH`.
        executable: String,
    },
}
