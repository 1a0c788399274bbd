//! The methods that share the monitor, each with its guarantee.

use serde::{Deserialize, Serialize};

/// How privacy is had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Pure privacy: one-sided noise on a secret sample of the users.
    ///
    /// Every user is kept by one secret coin, once, with probability `p = 1 - e^-epsilon`. In every step,
    /// an item that `w` kept and active users show is reported with probability `min(1, a^(tau - w))`,
    /// `a = e^(-epsilon_0 / k)`, `epsilon_0 = ln(1 + e^epsilon)`; also if `w = 0`. A user who was part of
    /// `k` reports becomes inactive at once.
    ///
    /// # Guarantee
    /// `epsilon`-DP under add/remove of a user with the whole history. *Proof.* Given the coins and the
    /// reports so far, which users are active is known, and whether an added user is counted depends on
    /// that user alone. Where the user is counted, a report of any noisy count becomes likelier by at most
    /// `1/a` and silence not likelier; elsewhere nothing changes. The user is counted in at most `k`
    /// reported cells: before a step, at most as many items as reports are left are admitted. So adding costs
    /// `k ln(1/a) = epsilon_0` on a kept user, `ln(1 + p (e^epsilon_0 - 1)) = epsilon` with the coin;
    /// removing costs at most `-ln(1 - p) = epsilon`. Both are attained.
    ///
    /// # Utility
    /// `tau = ceil((k / epsilon_0) ln(T |Y| / beta))` keeps the expected number of reports of items that
    /// nobody shows, over the whole stream, below `beta`. A count of at least `tau` kept users is always
    /// reported; [`smallest_count`](crate::MonitorPlan::smallest_count) says what that means for all users.
    /// The noisy count of a report costs nothing further.
    ///
    /// # Source
    /// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Algorithm 3, Theorem 5.3 and Corollary 3.2, on
    /// integers, with the larger `epsilon_0` that the corollary allows and several items per step.
    ThreshMonitor,
    /// As [`ThreshMonitor`](Self::ThreshMonitor), but an item without a kept user is never reported, at the price of a delta.
    ///
    /// # Guarantee
    /// `(epsilon, delta)`-DP under add/remove of a user with the whole history
    /// with `delta = p T m a^(tau - 1)` for `m` items per user and step. *Proof.* Let an added user be
    /// kept, and silence by force the cells that nobody else shows. What is left satisfies the proof above
    /// against the smaller data set, where these cells are silent. Forcing changes the outcome with
    /// probability at most `T m a^(tau - 1)`, since the user can be alone in at most `m` cells of each step,
    /// each with a count of 1. The coin multiplies that by `p`. Removing is as before, without a delta.
    /// The universe no longer enters: the threshold falls from `ln(T |Y| / beta)` to `ln(p T m / delta)`.
    ThreshMonitorSeen,
    /// Approximate privacy: two-sided noise, and a user is charged for hits only.
    ///
    /// The same monitor on all users, with discrete Laplace noise of loss `e` per test. A user leaves after
    /// `k` hits.
    ///
    /// # Guarantee
    /// `(epsilon, delta)`-DP under add/remove of a user with the whole history, for
    /// `delta = min over M of Pr[Bin(M, 1/(e^e + 1)) < k] + delta_M(epsilon)`, where `delta_M` is that of
    /// `M` tests composed exactly. *Proof.* The two laws of a test that counts the user, each over its
    /// noisy counts and silence, are `(1 - r) silence + r A` and `(1 - r) silence + r A'` with `e`-close `A`
    /// and `A'` that are not silent with probability at least `1/(e^e + 1)`. Only draws from `A` or `A'`
    /// depend on the user. After `k` hits there are none, and no step admits more items than hits are
    /// left, so more than `M` of them means fewer than `k` hits among the first `M`.
    ///
    /// # Source
    /// Cohen and Lyu (2023), target charging; the certificate is exact for this case
    /// ([`target_charging_delta`](dp_accounting::target_charging_delta)).
    TargetCharging,
    /// Pure privacy without any charging: a noisy histogram in every step, composed.
    ///
    /// # Guarantee
    /// `epsilon`-DP under add/remove of a user with the whole history: one user changes `T m` cells by one
    /// each, and each has discrete Laplace noise of loss `epsilon / (T m)`.
    BasicHistograms,
}

impl Method {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Self::ThreshMonitor => "thresh-monitor",
            Self::ThreshMonitorSeen => "thresh-monitor-seen",
            Self::TargetCharging => "target-charging",
            Self::BasicHistograms => "basic-histograms",
        }
    }
}
