#!/usr/bin/env bash
# Puts into .carry/ what a GPU machine without node, npm and network needs: node, the bundled programs, headers, textures.
# Usage: scripts/gpu/prepare.sh [TEXTURE_DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p .carry

node=$(command -v node)
if [ ! -f .carry/node.xz ] || [ "$(cat .carry/node.version 2>/dev/null)" != "$(node --version)" ]; then
  strip -o .carry/node "$node"
  nice xz -T2 -6 -f .carry/node
  node --version >.carry/node.version
fi

rm -rf .carry/bundle .carry/dist .carry/node-api-headers
mkdir -p .carry/node-api-headers
cp -r node_modules/node-api-headers/include .carry/node-api-headers/
npx esbuild scripts/gpu/cli.js scripts/gpu/decodeTextures.js bench/{engine,grid,infer,render,train}.ts \
  --bundle --splitting --platform=node --format=esm --target=node20 --outdir=.carry/dist/bundle --entry-names=[name] --log-level=warning \
  --external:sharp --external:onnxruntime-node --external:onnxruntime-web --external:h5wasm --external:exrs \
  --banner:js='import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);'

# Two packs, so that each call of the machine stays below what it can carry.
if [ $# -gt 0 ] && [ ! -f .carry/textures-1.tar ]; then
  ls "$1" | grep '\.jpg$' | awk 'NR % 2 == 0' | tar -C "$1" -cf .carry/textures-0.tar -T -
  ls "$1" | grep '\.jpg$' | awk 'NR % 2 == 1' | tar -C "$1" -cf .carry/textures-1.tar -T -
fi
du -h .carry/*
