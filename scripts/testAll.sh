#!/usr/bin/env bash
# Everything from a fresh Debian machine with Node 20 to green tests: system packages, npm packages, lint, types, the native addon, all tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# libtorch with a fast BLAS and Gloo (training), a browser (web tests), Redis (queue tests), programs that read what we write (tiffinfo,
# exrheader, identify) or write what we read (heif-enc, ffmpeg), and one that sees what a process asks the system for. Without them tests fail
# or are skipped.
packages=(g++ libtorch-dev libopenblas0-pthread libgloo-dev chromium redis-server libtiff-tools openexr imagemagick strace libheif-examples ffmpeg)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || { echo "please install: ${missing[*]}" >&2; exit 1; }
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

[ -d node_modules ] && [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci
# Runs every argument, a command, at the same time; what each prints comes when it has ended. Fails if one fails.
together() {
  local logs pids=() status=0
  logs=$(mktemp -d)
  # Signals do not reach the steps by themselves. Those that have ended already cannot be ended again.
  trap 'trap - INT TERM; kill -- "${pids[@]/#/-}" 2>/dev/null || true; wait || true; rm -r "$logs"; exit 130' INT TERM
  set -m # a process group for each step, so that it ends with all that it has started, and nothing else does
  for step in "$@"; do
    bash -c "$step" </dev/null >"$logs/${#pids[@]}" 2>&1 &
    pids+=($!)
  done
  set +m
  for each in "${!pids[@]}"; do
    wait "${pids[$each]}" || status=1
    cat "$logs/$each"
  done
  trap - INT TERM
  rm -r "$logs"
  return $status
}

# None of these needs another. The first takes longest, on one processor: the others leave it that one.
together 'npm run lint:code' 'nice npm run lint:format' 'nice npm run types && nice npm run build' 'nice npm run build:native'
npm test
npm run fuzz -- --seconds 30
