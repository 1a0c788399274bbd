//! How far a long command is: a bar with an estimate on a terminal, a line now and then elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Without a terminal at most one line in this time.
const QUIET: Duration = Duration::from_secs(10);

/// Counts work in arbitrary units, so that a large cell moves the bar more than a small one.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
    done: u64,
    total: u64,
}

impl Progress {
    pub(crate) fn new(total: u64) -> Self {
        let now = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total);
            let look = "{bar:30} {percent:>3} %  {elapsed} gone, about {eta} left  {msg}";
            bar.set_style(
                ProgressStyle::with_template(look).unwrap_or(ProgressStyle::default_bar()),
            );
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, started: now, last_line: now, done: 0, total }
    }

    /// For tests and for work that nobody watches.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        let now = Instant::now();
        Self { bar: None, started: now, last_line: now, done: 0, total: 0 }
    }

    /// Says what is running now.
    pub(crate) fn doing(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
        }
    }

    /// Counts finished work.
    pub(crate) fn advance(&mut self, units: u64, what: &str) {
        self.done = (self.done + units).min(self.total);
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.last_line.elapsed() >= QUIET {
            self.last_line = Instant::now();
            eprintln!("{}", plain_line(self.done, self.total, self.started.elapsed(), what));
        }
    }

    /// Takes back work that will not happen.
    pub(crate) fn shrink(&mut self, units: u64) {
        self.total = self.total.saturating_sub(units).max(self.done);
        if let Some(bar) = &self.bar {
            bar.set_length(self.total);
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn plain_line(done: u64, total: u64, gone: Duration, what: &str) -> String {
    let share = done as f64 / total.max(1) as f64;
    let left = if share > 0.0 { gone.as_secs_f64() * (1.0 / share - 1.0) } else { 0.0 };
    format!(
        "{:3.0} %  {:.0} s gone, about {left:.0} s left  {what}",
        100.0 * share,
        gone.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::plain_line;
    use std::time::Duration;

    #[test]
    fn the_estimate_extrapolates() {
        let line = plain_line(25, 100, Duration::from_secs(20), "letter, dpm, run 2");
        assert_eq!(line, " 25 %  20 s gone, about 60 s left  letter, dpm, run 2");
        assert_eq!(plain_line(0, 0, Duration::ZERO, ""), "  0 %  0 s gone, about 0 s left  ");
    }
}
