#!/usr/bin/env python3
"""NYU pairs (DIR/rgb/NAME.jpg + DIR/depth_mm/NAME.png) in few bytes to a machine that has PyTorch's Pillow but no decoder for node.

carryNyu.py pack DIR OUT PIECES   here: OUT-I/rgb-I.bin and OUT-I/depth-I.xz for each piece I. Needs Pillow, NumPy and jpegtran.
carryNyu.py unpack IN I OUT       there: the piece in IN as OUT/I-*.pairs, a packed set (src/data/packedPairs.ts).

What comes out is, byte for byte, what dualfocus's own loader makes of the files: the middle 4/5 of each side; metres, 0 where the depth
is not between 0.001 and 10 m. JPEGs are cut without decoding them, with a border of one block that chroma is interpolated from.
"""
import io
import json
import lzma
import os
import subprocess
import sys
from multiprocessing import Pool

import numpy
from PIL import Image

WIDTH, HEIGHT, BORDER = 512, 384, 16  # of 640 × 480
TOP, LEFT = 48, 64
PAIRS_PER_FILE = 20


def cut_jpeg(file):
    window = f"{WIDTH + 2 * BORDER}x{HEIGHT + 2 * BORDER}+{LEFT - BORDER}+{TOP - BORDER}"
    command = ["jpegtran", "-crop", window, "-progressive", "-optimize", "-copy", "none", file]
    return subprocess.run(command, capture_output=True, check=True).stdout


def residuals(file):
    """Differences to the left neighbour, small numbers for small differences of either sign."""
    depth = numpy.asarray(Image.open(file)).astype(numpy.uint16)[TOP : TOP + HEIGHT, LEFT : LEFT + WIDTH]
    steps = depth.copy()
    steps[:, 1:] -= depth[:, :-1]
    signed = steps.astype(numpy.int16).astype(numpy.int32)
    return ((signed << 1) ^ (signed >> 31)).astype(numpy.uint16)


def pack(folder, out, pieces):
    names = sorted(name[:-4] for name in os.listdir(f"{folder}/rgb") if name.endswith(".jpg"))
    per = -(-len(names) // pieces)
    for i in range(pieces):
        part = names[i * per : (i + 1) * per]
        os.makedirs(f"{out}-{i}", exist_ok=True)
        pictures = [cut_jpeg(f"{folder}/rgb/{name}.jpg") for name in part]
        with open(f"{out}-{i}/rgb-{i}.bin", "wb") as file:
            file.write(json.dumps({"names": part, "sizes": [len(each) for each in pictures]}).encode() + b"\n")
            file.write(b"".join(pictures))
        depth = numpy.stack([residuals(f"{folder}/depth_mm/{name}.png") for name in part])
        low, high = (depth & 255).astype(numpy.uint8), (depth >> 8).astype(numpy.uint8)
        with open(f"{out}-{i}/depth-{i}.xz", "wb") as file:
            file.write(lzma.compress(low.tobytes() + high.tobytes(), preset=6))
        print(f"piece {i}: {len(part)} pairs", flush=True)


def write_pairs(job):
    path, names, pictures, depth = job
    entries, parts = [], []
    for name, jpeg, codes in zip(names, pictures, depth):
        rgb = numpy.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))[BORDER : BORDER + HEIGHT, BORDER : BORDER + WIDTH]
        steps = (codes >> 1) ^ (-(codes.astype(numpy.int32) & 1)).astype(numpy.uint16)
        millimetres = numpy.cumsum(steps, axis=1, dtype=numpy.uint16)
        metres = (millimetres.astype(numpy.float64) * 0.001).astype(numpy.float32)
        metres[~((metres > 1e-3) & (metres < 10))] = 0
        entries.append({"name": name, "width": WIDTH, "height": HEIGHT, "bytes": True})
        parts += [rgb.tobytes(), metres.tobytes()]
    with open(f"{path}.part", "wb") as file:
        file.write(json.dumps({"camera": "nyu", "pairs": entries}).encode() + b"\n")
        for part in parts:
            file.write(part)
    os.rename(f"{path}.part", path)


def unpack(folder, i, out):
    os.makedirs(out, exist_ok=True)
    with open(f"{folder}/rgb-{i}.bin", "rb") as file:
        about = json.loads(file.readline())
        pictures = [file.read(size) for size in about["sizes"]]
    names = about["names"]
    with open(f"{folder}/depth-{i}.xz", "rb") as file:
        both = numpy.frombuffer(lzma.decompress(file.read()), numpy.uint8).reshape(2, len(names), HEIGHT, WIDTH)
    depth = both[0].astype(numpy.uint16) | (both[1].astype(numpy.uint16) << 8)
    starts = range(0, len(names), PAIRS_PER_FILE)
    jobs = [(f"{out}/{i}-{s // PAIRS_PER_FILE:02d}.pairs", names[s : s + PAIRS_PER_FILE], pictures[s : s + PAIRS_PER_FILE], depth[s : s + PAIRS_PER_FILE]) for s in starts]
    with Pool() as pool:
        pool.map(write_pairs, jobs)
    print(f"{out}: piece {i}, {len(names)} pairs")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "pack":
        pack(rest[0], rest[1], int(rest[2]))
    else:
        unpack(rest[0], int(rest[1]), rest[2])
