#!/usr/bin/env bash
# On the GPU machine, in the repository's folder, with .carry/ as prepare.sh made it. Needs python3 with PyTorch, g++ and nvcc.
#   run.sh setup             unpacks what was carried: node, sharp, textures, RGB-D pairs (build/gpu/pairs, for --data); builds the addon
#   run.sh train ARGS…       dualfocus train ARGS…, on CUDA, with the textures
#   run.sh reproduce ARGS…   dualfocus reproduce ARGS…, likewise
#   run.sh dualfocus bench ARGS…
#   run.sh bench NAME ARGS…  a program of bench/
#   run.sh collect DIR       the files of a run to $OUT, in pieces it takes back
#   run.sh finish DIR SECONDS  waits for a run that goes on in the background; after SECONDS it is told to save and stop; then collect
#   run.sh tables DIR        the tables, settings and logs of a reproduction to $OUT; unpacked into DIR elsewhere, it goes on there
#   run.sh restore DIR       a run from the pieces in .carry/run/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=build/gpu
export LD_LIBRARY_PATH="$(python3 -c 'import torch,os; print(os.path.join(torch.__path__[0], "lib"))')${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
piece=15M

unpack() {
  if command -v xz >/dev/null; then xz -dc "$1"; else python3 -c 'import lzma,shutil,sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$1"; fi
}

setup() { # .carry/ may hold only a part of what is needed; the rest came before
  mkdir -p $here/textures $here/pairs node_modules
  if [ -f .carry/node.xz.0 ] && [ -f .carry/node.xz.1 ]; then
    cat .carry/node.xz.[01] >$here/node.xz && unpack $here/node.xz >$here/node && chmod +x $here/node
  fi
  if [ -f .carry/sharp.tar.xz ]; then unpack .carry/sharp.tar.xz | tar -C node_modules -x; fi
  for set in textures pairs; do
    for pack in .carry/$set-*.tar; do [ ! -f "$pack" ] || tar -C $here/$set -xf "$pack"; done
  done
  if [ ! -x $here/node ]; then echo "node has not come yet, or only a part of it"; return; fi
  time $here/node scripts/buildNative.js
}

dualfocus() { # on CUDA
  local command=$1; shift
  $here/node --max-old-space-size=32768 .carry/dist/bundle/main.js "$command" --device cuda "$@"
}

textured() { # with the textures, if there are any
  local textures=() command=$1; shift
  [ -z "$(ls $here/textures)" ] || textures=(--textures $here/textures)
  dualfocus "$command" "${textures[@]}" "$@"
}

train() { textured train "$@"; }         # a folder per run
reproduce() { textured reproduce "$@"; } # a folder for all its runs

collect() { # the checkpoint only when it fits: 8 files of 16 MiB, 64 MiB together
  local name; name=$(basename "$1")
  cp "$1"/log.jsonl "$OUT/$name.log.jsonl"
  [ ! -f "$1"/report.html ] || cp "$1"/report.html "$OUT/$name.report.html"
  split -b $piece -d -a 2 "$1"/weights.safetensors "$OUT/$name.weights.safetensors."
  local used size; used=$(du -sk "$OUT" | cut -f1); size=$(du -k "$1"/checkpoint.safetensors | cut -f1)
  if [ $((used + size)) -lt 64000 ]; then split -b $piece -d -a 2 "$1"/checkpoint.safetensors "$OUT/$name.checkpoint.safetensors."; fi
  ls -l "$OUT"
}

finish() { # by the run's lock: pgrep -f with its command line would find the caller's own, too
  local lock=$1/running.lock deadline=$((SECONDS + $2)) pid=
  running() { # its process is there, and no zombie that nothing reaps
    pid=$(sed -nE 's/.*"pid":([0-9]+).*/\1/p' "$lock" 2>/dev/null) && [ -n "$pid" ] && grep -q '^State:[[:space:]]*[^ZX]' "/proc/$pid/status" 2>/dev/null
  }
  until running || [ -f "$1"/weights.safetensors ] || [ $SECONDS -ge $deadline ]; do sleep 0.2; done # it has just been started
  while running && [ $SECONDS -lt $deadline ]; do sleep 0.2; done
  if running; then
    echo "$1: stopped after $2 s"
    kill -TERM "$pid" || true
    deadline=$((SECONDS + 60))
    while running && [ $SECONDS -lt $deadline ]; do sleep 0.2; done
  fi
  collect "$1"
}

tables() { tar -C "$1" -czf "$OUT/$(basename "$1").tgz" --exclude='*.safetensors' --exclude=report.html .; }

restore() {
  mkdir -p "$1"
  local name; name=$(basename "$1")
  for kind in weights checkpoint; do
    ! ls .carry/run/$name.$kind.safetensors.* >/dev/null 2>&1 || cat .carry/run/$name.$kind.safetensors.* >"$1/$kind.safetensors"
  done
  ! [ -f .carry/run/$name.log.jsonl ] || cp .carry/run/$name.log.jsonl "$1/log.jsonl"
}

bench() { local program=$1; shift; $here/node .carry/dist/bundle/"$program".js "$@"; }

"$@"
