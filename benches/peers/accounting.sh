#!/bin/sh
# Times the accounting queries of the benchmark in dp-accounting (Python), installed by name into a temporary environment,
# and prints the ratio to ours, which are timed just before. Ours are wall time and the peer's is CPU time, so on a busy machine
# the ratio is too small. Says "skipped" where the peer cannot be had; that is not an error.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
results="${CARGO_TARGET_DIR:-$here/target}/criterion/accounting"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! python3 -m venv "$work/venv" >/dev/null 2>&1 ||
    ! "$work/venv/bin/pip" install --quiet --disable-pip-version-check dp-accounting >/dev/null 2>&1; then
    echo "skipped: dp-accounting could not be installed"
    exit 0
fi
(cd "$here" && cargo bench --quiet -p quietus-benches --bench accounting -- --warm-up-time 0.3 --measurement-time 1) \
    >/dev/null 2>&1 || echo "our own benchmark did not run: no ratios, or old ones"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$work/venv/bin/python" - "$results" <<'PY'
import glob, json, os, sys, time
from importlib.metadata import version
import dp_accounting as dp
from dp_accounting import pld

results = sys.argv[1]
ours = {}
for path in glob.glob(os.path.join(results, "*", "new", "benchmark.json")):
    name = json.load(open(path))["function_id"]
    estimate = json.load(open(os.path.join(os.path.dirname(path), "estimates.json")))
    ours[name] = estimate["median"]["point_estimate"] * 1e-9

gaussian, laplace = dp.GaussianDpEvent, dp.LaplaceDpEvent
# Name, event, lattice of the peer: the coarsest of 1e-3, 1e-4, 1e-5 whose upper side is within 1e-5 or so of the truth.
queries = [
    ("dp-sgd q=.01 sigma=1 T=1e4", dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, gaussian(1.0)), 10000), 1e-5),
    ("laplace(.01) k=1e4", dp.SelfComposedDpEvent(laplace(100.0), 10000), 1e-4),
    ("1000 distinct laplace", dp.ComposedDpEvent([laplace(50 + i / 10) for i in range(1000)]), 1e-4),
    ("gaussian(20) k=1e4, general engine", dp.SelfComposedDpEvent(gaussian(20.0), 10000), 1e-4),
]
print("dp-accounting", version("dp-accounting"), "- upper side only, best of 3; ours: both sides, median")
for name, event, lattice in queries:
    best, epsilon = float("inf"), None
    for _ in range(3):
        begin = time.process_time()
        accountant = pld.PLDAccountant(value_discretization_interval=lattice)
        accountant.compose(event)
        epsilon = accountant.get_epsilon(1e-6)
        best = min(best, time.process_time() - begin)
    mine = ours.get(name)
    ratio = f"ours {mine:.4f} s, ratio {best / mine:.1f}" if mine else "ours not measured"
    print(f"{name:34} peer {best:.3f} s (epsilon {epsilon:.9f}), {ratio}")
begin = time.process_time()
for _ in range(20):
    dp.get_sigma_gaussian(1.0, 1e-6)
peer = (time.process_time() - begin) / 20
mine = ours.get("gaussian noise multiplier, delta=1e-6")
ratio = f"ours {mine:.2e} s, ratio {peer / mine:.0f}" if mine else "ours not measured"
print(f"{'gaussian noise multiplier':34} peer {peer:.2e} s, {ratio}")
PY
