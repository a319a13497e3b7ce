//! Journeys through the binary.
