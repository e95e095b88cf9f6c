#!/usr/bin/env python3
"""packNyu.py OUT DIR [WORKERS]: NYU pairs (DIR/rgb/NAME.jpg + DIR/depth_mm/NAME.png) decoded into OUT/*.pairs (src/data/packedPairs.ts).

For a machine that has PyTorch's Pillow but no decoder for node. The same bytes as dualfocus's own loader: middle 4/5 of each side,
metres, 0 where the depth is not between 0.001 and 10 m.
"""
import json
import os
import sys
from multiprocessing import Pool

import numpy
from PIL import Image


def pair(folder, name):
    rgb = numpy.asarray(Image.open(f"{folder}/rgb/{name}.jpg").convert("RGB"))
    millimetres = numpy.asarray(Image.open(f"{folder}/depth_mm/{name}.png"))
    height, width = rgb.shape[:2]
    h, w = height * 4 // 5, width * 4 // 5
    top, left = (height - h) // 2, (width - w) // 2
    middle = (slice(top, top + h), slice(left, left + w))
    metres = (millimetres[middle].astype(numpy.float64) * 0.001).astype(numpy.float32)
    metres[~((metres > 1e-3) & (metres < 10))] = 0
    return rgb[middle], metres


def pack(job):
    out, folder, names, piece = job
    entries, parts = [], []
    for name in names:
        rgb, metres = pair(folder, name)
        entries.append({"name": name, "width": rgb.shape[1], "height": rgb.shape[0], "bytes": True})
        parts += [rgb.tobytes(), metres.tobytes()]
    with open(f"{out}/{piece:03d}.pairs", "wb") as file:
        file.write(json.dumps({"camera": "nyu", "pairs": entries}).encode() + b"\n")
        for part in parts:
            file.write(part)
    return len(entries)


if __name__ == "__main__":
    out, folder = sys.argv[1:3]
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count()
    os.makedirs(out, exist_ok=True)
    names = sorted(name[:-4] for name in os.listdir(f"{folder}/rgb") if name.endswith(".jpg"))
    pieces = [names[i : i + 20] for i in range(0, len(names), 20)]
    with Pool(workers) as pool:
        count = sum(pool.map(pack, [(out, folder, part, piece) for piece, part in enumerate(pieces)]))
    print(f"{out}: {count} pairs")
