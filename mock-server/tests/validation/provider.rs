//! Providers, as a client meets them.
