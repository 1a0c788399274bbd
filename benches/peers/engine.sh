#!/bin/sh
# Times every pass of a re-centred DPM through DataFusion beside ten plain sums of the same engine on the same Parquet file, and prints
# nanoseconds of CPU per row and the ratio. The engine has a build of its own, which takes several minutes; says "skipped" where it cannot be had.
# Usage: benches/peers/engine.sh [rows] [partitions]
set -eu
rows="${1:-1000000}"
partitions="${2:-2}"
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$root/engines/dp-datafusion"
if ! cargo build --release --quiet --example speed 2> "$work/log"; then
    echo "skipped: DataFusion could not be had or built"
    tail -n 3 "$work/log"
    exit 0
fi
cargo run --release --quiet --example speed -- "$rows" "$work/rows.parquet" "$partitions"
