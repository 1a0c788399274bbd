//! Which times there are, and of which step each is. All of it is public.

use crate::error::Error;
use crate::value::{date, days};
use serde::{Deserialize, Serialize};

/// What a day is in seconds.
const DAY: i64 = 86_400;

/// Where steps begin and end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Steps {
    /// So many of one length.
    Equal {
        /// Where the first begins.
        from: i64,
        /// Of each.
        length: u64,
        /// How many.
        count: u64,
    },
    /// Each from one of these times to the next.
    Between(Vec<i64>),
}

/// Times, and steps of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Said", into = "Said")]
pub struct Clock(Said);

/// A clock before it is checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// Whether times are dates, perhaps with a time of day, in seconds since 1970; else they are whole numbers.
    pub dates: bool,
    /// Where steps begin and end.
    pub steps: Steps,
}

impl TryFrom<Said> for Clock {
    type Error = Error;

    fn try_from(said: Said) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Err(Error::Library { what: "the steps", reason: reason.into() });
        match &said.steps {
            Steps::Equal { length: 0, .. } => refuse("a step must have a length"),
            Steps::Equal { count: 0, .. } => refuse("there must be one at least"),
            Steps::Equal { count, .. } if *count > Clock::MOST => {
                refuse("there may be a million at most, within 64 bits of time")
            }
            Steps::Equal { from, length, count } => {
                let end = i128::from(*from) + i128::from(*length) * i128::from(*count);
                if end > i128::from(i64::MAX) {
                    return refuse("there may be a million at most, within 64 bits of time");
                }
                Ok(Self(said))
            }
            Steps::Between(ends) => {
                if ends.len() < 2 || ends.len() as u64 > Clock::MOST {
                    return refuse("there must be two boundaries at least, and a million at most");
                }
                if !ends.is_sorted_by(|a, b| a < b) {
                    return refuse("each boundary must be later than the one before");
                }
                Ok(Self(said))
            }
        }
    }
}

impl From<Clock> for Said {
    fn from(clock: Clock) -> Self {
        clock.0
    }
}

impl Clock {
    /// Most steps.
    pub const MOST: u64 = 1 << 20;

    /// How many steps there are.
    pub fn length(&self) -> u64 {
        match &self.0.steps {
            Steps::Equal { count, .. } => *count,
            Steps::Between(ends) => ends.len() as u64 - 1,
        }
    }

    /// Where a step begins; for the number of steps, where the last one ends.
    pub fn start(&self, step: u64) -> i64 {
        match &self.0.steps {
            Steps::Equal { from, length, .. } => {
                let start = i128::from(*from) + i128::from(*length) * i128::from(step);
                i64::try_from(start).unwrap_or(i64::MAX)
            }
            Steps::Between(ends) => {
                let place = usize::try_from(step).unwrap_or(usize::MAX);
                ends.get(place).or(ends.last()).copied().unwrap_or(i64::MAX)
            }
        }
    }

    /// How many steps have ended at a time.
    pub fn ended(&self, time: i64) -> u64 {
        match &self.0.steps {
            Steps::Equal { from, length, count } => {
                let gone = (i128::from(time) - i128::from(*from)).div_euclid(i128::from(*length));
                u64::try_from(gone.max(0)).unwrap_or(u64::MAX).min(*count)
            }
            Steps::Between(ends) => {
                (ends.partition_point(|end| *end <= time) as u64).saturating_sub(1)
            }
        }
    }

    /// The step of a time, if it is of one.
    pub fn step_at(&self, time: i64) -> Option<u64> {
        let within = self.start(0) <= time && time < self.start(self.length());
        within.then(|| self.ended(time))
    }

    /// A time as it is written in the file.
    pub fn time(&self, text: &str) -> Option<i64> {
        if self.0.dates { seconds(text) } else { text.trim().parse().ok() }
    }

    /// Whether times are dates.
    pub fn dates(&self) -> bool {
        self.0.dates
    }

    /// A time as people write it.
    pub fn shown(&self, time: i64) -> String {
        if !self.0.dates {
            return time.to_string();
        }
        let (day, second) = (time.div_euclid(DAY), time.rem_euclid(DAY));
        let day = date(day as f64);
        if second == 0 {
            return day;
        }
        format!("{day}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    }
}

/// Seconds from 1970-01-01 to a date as 2024-02-29, or with a time of day as 2024-02-29T12:00 or 2024-02-29 12:00:30. What is behind the seconds is not
/// looked at, nor are time zones.
pub fn seconds(text: &str) -> Option<i64> {
    let text = text.trim();
    #[expect(clippy::cast_possible_truncation, reason = "whole days of years with four digits")]
    let day = days(text)? as i64 * DAY;
    let rest = text.get(10..)?;
    if rest.is_empty() {
        return Some(day);
    }
    let rest = rest.strip_prefix(['T', ' '])?;
    let two = |from: usize, below: i64| {
        let digits = rest.get(from..from + 2)?;
        let digits = digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)?;
        digits.parse::<i64>().ok().filter(|value| *value < below)
    };
    let colon = |at: usize| rest.as_bytes().get(at) == Some(&b':');
    let (hour, minute) = (two(0, 24)?, colon(2).then(|| two(3, 60))??);
    let second = if colon(5) { two(6, 61)? } else { 0 };
    Some(day + 3600 * hour + 60 * minute + second.min(59))
}

/// A length as 7d, 12h, 30m or 90s if times are dates, else a whole number.
pub(super) fn length(text: &str, dates: bool) -> Result<u64, Error> {
    let wrong = || Error::Setting {
        name: "--step",
        got: format!("`{text}`"),
        want: "above 0 and as 7d, 12h, 30m or 90s where --from is a date, else a whole number",
    };
    let text = text.trim();
    let (digits, unit) = match (dates, text.char_indices().next_back()) {
        (true, Some((end, unit))) => {
            let unit = match unit {
                'd' => 86_400,
                'h' => 3_600,
                'm' => 60,
                's' => 1,
                _ => return Err(wrong()),
            };
            (&text[..end], unit)
        }
        _ => (text, 1_u64),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|length| *length > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{Clock, Said, Steps, length, seconds};

    #[test]
    fn times_are_read_and_those_that_there_are_not_are_none() {
        assert_eq!(seconds("1970-01-02"), Some(86_400));
        assert_eq!(seconds(" 1970-01-01T01:02 "), Some(3_720));
        assert_eq!(seconds("1970-01-01 01:02:03.5+02:00"), Some(3_723));
        for text in ["1970-01-01T", "1970-01-01x", "1970-01-01T25:00", "1970-01-01T1:00", "x", ""] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(seconds("1970-01-01T00:\u{e9}0"), None);
        assert_eq!((length("7d", true).unwrap(), length("90", false).unwrap()), (604_800, 90));
        for (text, dates) in
            [("7", true), ("d", true), ("0h", true), ("-1d", true), ("\u{e9}", true), ("7d", false)]
        {
            assert!(length(text, dates).is_err(), "{text}");
        }
        assert!(length(&format!("{}d", u64::MAX), true).is_err());
    }

    #[test]
    fn every_time_is_of_the_step_that_it_is_in() {
        let equal = Said { dates: false, steps: Steps::Equal { from: -5, length: 3, count: 4 } };
        let between = Said { dates: false, steps: Steps::Between(vec![-5, -2, 1, 4, 7]) };
        for said in [equal, between] {
            let clock = Clock::try_from(said).unwrap();
            assert_eq!((clock.length(), clock.start(0), clock.start(4)), (4, -5, 7));
            for time in -20..20 {
                let step = (0..4).find(|&s| (clock.start(s)..clock.start(s + 1)).contains(&time));
                assert_eq!(clock.step_at(time), step, "{time}");
                let ended = (0..4).filter(|&s| clock.start(s + 1) <= time).count() as u64;
                assert_eq!(clock.ended(time), ended, "{time}");
            }
            for time in [i64::MIN, i64::MAX] {
                assert_eq!(clock.step_at(time), None);
                assert_eq!(clock.ended(time), if time < 0 { 0 } else { 4 });
            }
        }
        let refused = [
            Steps::Equal { from: 0, length: 0, count: 1 },
            Steps::Equal { from: 0, length: 1, count: 0 },
            Steps::Equal { from: i64::MAX - 3, length: 2, count: 2 },
            Steps::Equal { from: 0, length: 1, count: Clock::MOST + 1 },
            Steps::Between(vec![1]),
            Steps::Between(vec![1, 1]),
        ];
        for steps in refused {
            assert!(Clock::try_from(Said { dates: true, steps }).is_err());
        }
    }
}
