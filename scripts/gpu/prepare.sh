#!/usr/bin/env bash
# Puts into .carry/ what a GPU machine without node, npm and network needs: node, the bundled programs, sharp, headers, textures, RGB-D pairs.
# Usage: scripts/gpu/prepare.sh [TEXTURE_DIR [PAIRS_DIR]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p .carry

node=$(command -v node)
if [ ! -f .carry/node.xz.1 ] || [ "$(cat .carry/node.version 2>/dev/null)" != "$(node --version)" ]; then
  strip -o .carry/node "$node"
  nice xz -T2 -6 -f .carry/node
  split -n 2 -d -a 1 .carry/node.xz .carry/node.xz. && rm .carry/node.xz # beside the tree, a transfer takes no more than half of it
  node --version >.carry/node.version
fi

rm -rf .carry/dist .carry/node-api-headers
mkdir -p .carry/node-api-headers
cp -r node_modules/node-api-headers/include .carry/node-api-headers/
npx esbuild src/cli/main.ts src/reproduce/worker.ts src/depth/node/fusionThread.ts bench/{engine,grid,infer,profile,render,train,trainKernels}.ts \
  --bundle --splitting --platform=node --format=esm --target=node20 --outdir=.carry/dist/bundle --entry-names=[name] --log-level=warning \
  --external:sharp --external:onnxruntime-node --external:onnxruntime-web --external:h5wasm --external:exrs \
  --banner:js='import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);'

# sharp has a native part, so it stays outside the bundle.
tar -C node_modules -ch sharp/{package.json,dist} @img/{colour,sharp-linux-x64,sharp-libvips-linux-x64} detect-libc semver | nice xz -T2 -6 >.carry/sharp.tar.xz

# Packs, so that each transfer stays below what the machine takes at a time.
pack() { # NAME PIECES DIR: every PIECES-th file of DIR in each of NAME-0.tar, NAME-1.tar …
  for ((piece = 0; piece < $2; piece++)); do
    (cd "$3" && find . -type f \( -name '*.jpg' -o -name '*.png' \) | sort | awk -v i=$piece -v n="$2" 'NR % n == i') | tar -C "$3" -cf ".carry/$1-$piece.tar" -T -
  done
}
[ $# -lt 1 ] || [ -f .carry/textures-1.tar ] || pack textures 2 "$1"
[ $# -lt 2 ] || [ -f .carry/pairs-4.tar ] || pack pairs 5 "$2"
du -h .carry/*
