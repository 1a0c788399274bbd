#!/bin/sh
# Times discrete Laplace and Gaussian noise of OpenDP (installed by name from crates.io, without
# OpenSSL) beside ours, in one process, and prints the ratio. Says "skipped" where OpenDP cannot be
# had. Usage: benches/peers/noise.sh [version]
set -eu
version="${1:-0.16}"
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"

cat > "$work/Cargo.toml" <<TOML
[package]
name = "noise-peers"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
dp-noise = { path = "$root/crates/dp-noise" }
opendp = { version = "$version", default-features = false, features = ["contrib"] }

[profile.release]
debug = false
TOML

cat > "$work/src/main.rs" <<'RUST'
use std::hint::black_box;
use std::time::Instant;

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, Ratio, SecureBits, TableGaussian, TimingSafeLaplace,
    chacha_from_os, reference,
};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};

/// Nanoseconds per draw: the least of 25 batches, which a busy machine disturbs least, and the
/// median beside it.
fn time(batch: u32, mut draw: impl FnMut()) -> (f64, f64) {
    let mut batches: Vec<f64> = (0..25)
        .map(|_| {
            let start = Instant::now();
            (0..batch).for_each(|_| draw());
            start.elapsed().as_secs_f64() * 1e9 / f64::from(batch)
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    (batches[0], batches[12])
}

fn row(name: &str, scale: u32, ours: (f64, f64), peer: (f64, f64)) {
    println!(
        "{name:22} {scale:8} {:9.1} {:9.1} {:10.1} {:10.1} {:7.1}x",
        ours.0, ours.1, peer.0, peer.1, peer.0 / ours.0
    );
}

fn main() {
    let mut rng = chacha_from_os().expect("entropy");
    let mut bits = SecureBits::new(&mut rng);
    println!("ns per draw                scale  ours min    median  OpenDP min   median    ratio");
    for scale in [1_u32, 10, 1000, 1_000_000] {
        let ratio = |n: u128| Ratio::new(n, 1).expect("valid");
        let peer_scale = || opendp_scale(scale);
        let laplace = DiscreteLaplace::new(ratio(scale.into())).expect("valid");
        let peer = time(400, || {
            black_box(sample_discrete_laplace(peer_scale()).expect("a draw"));
        });
        let ours = time(10_000, || {
            black_box(laplace.sample(&mut bits));
        });
        row("Laplace", scale, ours, peer);
        let safe = TimingSafeLaplace::new(ratio(scale.into())).expect("valid");
        let ours = time(10_000, || {
            black_box(safe.sample(&mut bits));
        });
        row("Laplace, timing-safe", scale, ours, peer);
        let variance = ratio(u128::from(scale).pow(2));
        let gaussian = DiscreteGaussian::new(variance).expect("valid");
        let peer = time(400, || {
            black_box(sample_discrete_gaussian(peer_scale()).expect("a draw"));
        });
        let ours = time(10_000, || {
            black_box(gaussian.sample(&mut bits));
        });
        row("Gaussian", scale, ours, peer);
        if let Ok(table) = TableGaussian::new(variance) {
            let ours = time(10_000, || {
                black_box(table.sample(&mut bits));
            });
            row("Gaussian, table", scale, ours, peer);
        }
    }
    // Squares beyond 128 bits: ours computes every acceptance in big integers.
    let noise = reference::DiscreteGaussian::new(Ratio::new(1 << 80, 1).expect("valid"));
    let noise = noise.expect("valid");
    let peer = time(400, || {
        black_box(sample_discrete_gaussian(opendp_scale(1 << 20) * opendp_scale(1 << 20)).expect("a draw"));
    });
    let ours = time(1000, || {
        black_box(noise.sample(&mut bits));
    });
    row("Gaussian, big, 2^40", 0, ours, peer);
}

/// OpenDP takes scales as big rationals of its number library.
fn opendp_scale(scale: u32) -> dashu::rational::RBig {
    dashu::rational::RBig::from(scale)
}
RUST

if ! grep -q '^dashu' "$work/Cargo.toml"; then
    # The number type of OpenDP's own interface, in whatever version OpenDP asks for.
    sed -i.bak '/^opendp = /a dashu = "*"' "$work/Cargo.toml"
fi
cd "$work"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$work/target}"
if ! cargo build --release --quiet 2> "$work/log"; then
    echo "skipped: OpenDP $version could not be had or built"
    tail -n 3 "$work/log"
    exit 0
fi
grep -A1 'name = "opendp"' Cargo.lock | tail -n 1 | sed 's/^/OpenDP /'
cargo run --release --quiet
