//! What a script says of validation.
