#!/bin/sh
# Times greedy coverage and facility location of apricot-select and submodlib-py (Python), installed by name into a temporary
# environment, on instances of the same kind as ours, and prints the ratio to ours, which are timed just before. The peers have no
# private form, so they are set against our greedy and against our private greedy. A peer that cannot be had is said to be skipped;
# that is not an error.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
results="${CARGO_TARGET_DIR:-$here/target}/criterion"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! python3 -m venv "$work/venv" >/dev/null 2>&1; then
    echo "skipped: no environment for Python"
    exit 0
fi
for peer in apricot-select submodlib-py; do
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$peer" >/dev/null 2>&1 || echo "skipped: $peer could not be installed"
done
(cd "$here" && cargo bench --quiet -p quietus-benches --bench submodular -- --warm-up-time 0.3 --measurement-time 1) \
    >/dev/null 2>&1 || echo "our own benchmark did not run: no ratios, or old ones"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
"$work/venv/bin/python" - "$results" <<'PY'
import glob, json, os, sys, time
from importlib.metadata import version
import numpy as np

ours = {}
for path in glob.glob(os.path.join(sys.argv[1], "*", "*", "new", "benchmark.json")):
    label = json.load(open(path))
    estimate = json.load(open(os.path.join(os.path.dirname(path), "estimates.json")))
    ours[label["group_id"], label["function_id"]] = estimate["median"]["point_estimate"] * 1e-9

rng = np.random.default_rng(0)


def best(run, times):
    found = float("inf")
    for _ in range(times):
        start = time.process_time()
        run()
        found = min(found, time.process_time() - start)
    return found


def report(peer, seconds, group, k):
    for name in ("not private", "permute-and-flip"):
        mine = ours.get((group, f"{name}, k={k}"))
        ratio = f"ours {mine:.4f} s, ratio {seconds / mine:.0f}" if mine else "ours not measured"
        print(f"{peer:40} {seconds:8.3f} s   {name:18} {ratio}")


users, sets = 100_000, 1_000
lists = [np.unique(np.exp(rng.uniform(0, np.log(sets), rng.integers(5, 22))).astype(int) - 1) for _ in range(users)]
points = rng.random((5_000, 2))
distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
similarity = np.exp(-4 * distance)
coverage, facilities = "submodular/coverage 100000 x 1000", "submodular/facility location 5000 x 5000"
print("CPU time, best of 2 after a first run; ours: wall time, median")
try:
    from apricot import FacilityLocationSelection, MaxCoverageSelection

    table = np.zeros((sets, users))
    for user, chosen in enumerate(lists):
        table[chosen, user] = 1
    run = lambda: MaxCoverageSelection(20, optimizer="lazy").fit(table)
    run()
    report(f"apricot {version('apricot-select')} coverage, k=20", best(run, 2), coverage, 20)
    run = lambda: FacilityLocationSelection(100, metric="precomputed", optimizer="lazy").fit(similarity)
    run()
    report("apricot facility location, lazy, k=100", best(run, 2), facilities, 100)
except Exception as error:
    print("skipped apricot:", error)
try:
    from submodlib import FacilityLocationFunction, SetCoverFunction

    members = [set() for _ in range(sets)]
    for user, chosen in enumerate(lists):
        for one in chosen:
            members[one].add(user)
    start = time.process_time()
    function = SetCoverFunction(n=sets, cover_set=members, num_concepts=users)
    built = time.process_time() - start
    run = lambda: function.maximize(budget=20, optimizer="LazyGreedy", show_progress=False)
    run()
    report(f"submodlib {version('submodlib-py')} coverage, built in {built:.2f} s", best(run, 2), coverage, 20)
    function = FacilityLocationFunction(n=5_000, mode="dense", sijs=similarity, separate_rep=False)
    run = lambda: function.maximize(budget=100, optimizer="LazyGreedy", show_progress=False)
    run()
    report("submodlib facility location, lazy, k=100", best(run, 2), facilities, 100)
except Exception as error:
    print("skipped submodlib:", error)
PY
