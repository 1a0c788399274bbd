#!/bin/sh
# Times the FasterPAM of the Python package kmedoids (Rust behind Python), installed by name into a temporary environment, on a metric
# of the same kind as ours, and prints the ratio to ours, which is timed just before on one thread. Says "skipped" where the peer
# cannot be had; that is not an error.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
results="${CARGO_TARGET_DIR:-$here/target}/criterion"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! python3 -m venv "$work/venv" >/dev/null 2>&1 ||
    ! "$work/venv/bin/pip" install --quiet --disable-pip-version-check numpy kmedoids >/dev/null 2>&1; then
    echo "skipped: kmedoids could not be installed"
    exit 0
fi
(cd "$here" && RAYON_NUM_THREADS=1 cargo bench --quiet -p quietus-benches --bench k_median -- 'search' --warm-up-time 0.3 --measurement-time 1) \
    >/dev/null 2>&1 || echo "our own benchmark did not run: no ratios, or old ones"
"$work/venv/bin/python" - "$results" <<'PY'
import glob, json, os, sys, time
from importlib.metadata import version
import kmedoids, numpy

ours = {}
for path in glob.glob(os.path.join(sys.argv[1], "*", "*", "new", "benchmark.json")):
    label = json.load(open(path))
    if label["group_id"] == "k-median/5000 nodes":
        estimate = json.load(open(os.path.join(os.path.dirname(path), "estimates.json")))
        ours[label["function_id"]] = estimate["median"]["point_estimate"] * 1e-9

points = numpy.random.default_rng(0).random((5000, 2))
distances = numpy.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(2)).astype(numpy.float32)
print("kmedoids", version("kmedoids"), "- CPU time, best of 3; ours: wall time on one thread, median; 5,000 points in a square")
for k in (20, 100):
    best, loss = float("inf"), 0.0
    for seed in range(3):
        start = time.process_time()
        found = kmedoids.fasterpam(distances, k, random_state=seed)
        seconds = time.process_time() - start
        best, loss = min((best, loss), (seconds, found.loss))
    mine = ours.get(f"search, k {k}")
    ratio = "" if mine is None else f"; ours {mine:.3f} s, peer takes {best / mine:.2f} times that"
    print(f"k {k:3d}: {best:.3f} s, cost {loss:.1f}{ratio}")
PY
