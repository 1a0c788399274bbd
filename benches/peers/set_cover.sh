#!/bin/sh
# Times the greedy set cover of OR-Tools (C++ behind Python), installed by name into a temporary environment, on a family of the
# same kind as ours, and prints the ratio to ours, which are timed just before. Ours are wall time and the peer's is CPU time, so on
# a busy machine the ratio is too small. OR-Tools has no private form: its greedy is set against our greedy and private orders. Says "skipped" where the peer cannot be had; that is not an error.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
results="${CARGO_TARGET_DIR:-$here/target}/criterion"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! python3 -m venv "$work/venv" >/dev/null 2>&1 ||
    ! "$work/venv/bin/pip" install --quiet --disable-pip-version-check ortools >/dev/null 2>&1; then
    echo "skipped: ortools could not be installed"
    exit 0
fi
(cd "$here" && cargo bench --quiet -p quietus-benches --bench set_cover -- '100000 x 1000' --warm-up-time 0.3 --measurement-time 1) \
    >/dev/null 2>&1 || echo "our own benchmark did not run: no ratios, or old ones"
"$work/venv/bin/python" - "$results" <<'PY'
import glob, json, os, random, sys, time
from importlib.metadata import version
from ortools.set_cover.python import set_cover

ours = {}
for path in glob.glob(os.path.join(sys.argv[1], "*", "*", "new", "benchmark.json")):
    label = json.load(open(path))
    if label["group_id"] == "set-cover/100000 x 1000":
        estimate = json.load(open(os.path.join(os.path.dirname(path), "estimates.json")))
        ours[label["function_id"]] = estimate["median"]["point_estimate"] * 1e-9

random.seed(0)
users, sets = 100_000, 1_000
members = [[] for _ in range(sets)]
for user in range(users):
    for chosen in {random.randrange(sets) for _ in range(10)}:
        members[chosen].append(user)
start = time.process_time()
model = set_cover.SetCoverModel()
for chosen in members:
    model.add_empty_subset(1.0)
    for user in chosen:
        model.add_element_to_last_subset(user)
model.create_sparse_row_view()
build = time.process_time() - start
best = float("inf")
for _ in range(3):
    invariant = set_cover.SetCoverInvariant(model)
    start = time.process_time()
    set_cover.GreedySolutionGenerator(invariant).next_solution()
    best = min(best, time.process_time() - start)
print("ortools", version("ortools"), "- CPU time, best of 3; ours: wall time, median; 100,000 users, 1,000 sets, 10 sets each")
print(f"build, from Python     {build:9.3f} s")
print(f"greedy                 {best:9.4f} s, cost {invariant.cost():.0f}")
for name in [name for name in ("greedy", "select", "thresholds") if name in ours]:
    print(f"ours, {name:24s} {ours[name]:9.4f} s, peer's greedy takes {best / ours[name]:6.2f} times that")
PY
