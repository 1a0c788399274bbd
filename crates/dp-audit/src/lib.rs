//! Checks every privacy claim on the very code that makes the release.
