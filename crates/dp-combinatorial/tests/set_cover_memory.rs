//! A bound on memory, measured by a counting allocator. Alone in its binary, so that no other test
//! allocates meanwhile.

use std::convert::Infallible;

use dp_combinatorial::set_cover::{SetCoverThresholds, SetCoverThresholdsSettings, SetStream};
use dp_combinatorial::{Budget, ChaCha20Rng};
use peak_alloc::PeakAlloc;
use rand::SeedableRng;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Each set is a run of users, made anew in every pass: three times as many memberships as users.
struct Runs {
    users: u32,
    sets: u32,
}

impl SetStream for Runs {
    type Error = Infallible;

    fn users(&self) -> u32 {
        self.users
    }

    fn pass(&mut self, visit: &mut dyn FnMut(u32, &[u32])) -> Result<(), Infallible> {
        let step = self.users / self.sets;
        for set in 0..self.sets {
            let users: Vec<u32> = (set * step..((set + 3) * step).min(self.users)).collect();
            visit(set, &users);
        }
        Ok(())
    }
}

/// Reading sets in passes takes one bit per user and some bytes per set, besides what the stream itself
/// holds: here four bytes per user of one set. The memberships would take 24 MB.
#[test]
fn passes_need_one_bit_per_user() {
    let (users, sets) = (1_000_000, 500);
    let plan = SetCoverThresholds::new(
        sets,
        users,
        Budget::new(1.0, 0.0).expect("valid"),
        SetCoverThresholdsSettings { ratio: 8.0, ..Default::default() },
    )
    .expect("valid");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let release = plan.simulate_stream(&mut Runs { users, sets }, &mut rng);
    let used = ALLOCATOR.peak_usage() - before;
    assert_eq!(release.expect("it cannot fail").output.order.len(), 500);
    let bits = users as usize / 8;
    let largest = 3 * users as usize / sets as usize;
    assert!(used <= bits + 4 * largest + 64 * sets as usize, "{used} bytes");
    assert!(used >= bits, "{used} bytes: the allocator was not counting");
}
