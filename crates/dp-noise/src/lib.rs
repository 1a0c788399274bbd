//! Exact samplers over random bits: no floating point, no privacy vocabulary.
