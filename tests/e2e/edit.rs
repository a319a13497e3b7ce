//! Changing code by its shape: staged in one call, written in another.
