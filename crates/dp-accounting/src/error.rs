//! What a public setting can be refused for.

/// A public setting was refused. It never carries anything computed from a record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// `got` lies outside what `want` describes; NaN lies outside everything.
    #[error("{name} must be {want}, got {}", plain_number(*got))]
    OutOfRange {
        /// The setting, as its type spells it in lower case.
        name: &'static str,
        /// The refused value.
        got: f64,
        /// The values that would have been accepted, in words.
        want: &'static str,
    },
    /// A list that must hold at least one value is empty.
    #[error("{name} must not be empty")]
    Empty {
        /// The setting.
        name: &'static str,
    },
}

/// A number as messages show it: a whole one as such, any other with an exponent where it is small or large.
pub fn plain_number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        value.to_string()
    } else {
        format!("{value:?}")
    }
}
