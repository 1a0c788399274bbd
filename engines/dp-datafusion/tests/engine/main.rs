//! Releases through `DataFusion`, against those from memory.

mod bad_input;
mod codec;
mod counted_twice;
mod kept;
mod leaves;
mod refused;
mod same_bytes;
mod support;
