//! Plans for tests.

use dp_accounting::Budget;

use crate::{Method, MonitorPlan, MonitorSettings, StreamError, StreamShape};

/// By the pure method.
pub(crate) fn pure(
    shape: StreamShape,
    epsilon: f64,
    reports_per_user: u8,
    settings: MonitorSettings,
) -> Result<MonitorPlan, StreamError> {
    let budget = Budget::new(epsilon, 0.0)?;
    MonitorPlan::new(Method::ThreshMonitor, shape, budget, reports_per_user, settings)
}
