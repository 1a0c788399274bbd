//! Peak memory of this process, where the system tells.

/// Starts a new measurement: peaks before now no longer count. Without the permission, or elsewhere
/// than on Linux, the peak stays that of the whole process.
pub(crate) fn reset_peak() {
    // "5" asks the kernel to forget the peak resident set size (proc(5), clear_refs).
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Peak resident memory in MiB since the last reset; `None` where it is unknown.
pub(crate) fn peak_mib() -> Option<f64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_of(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((kib / 1024.0 * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::peak_of;

    #[test]
    fn the_peak_is_read_in_mib_and_unknown_text_gives_nothing() {
        assert_eq!(peak_of("Name:\tx\nVmHWM:\t  204800 kB\nVmRSS:\t1 kB\n"), Some(200.0));
        assert_eq!(peak_of("VmHWM: many"), None);
        assert_eq!(peak_of(""), None);
    }
}
