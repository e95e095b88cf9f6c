"""Times the operations of bench/engine.ts in PyTorch, to be run beside it on the same machine.

    python3 test/golden/engine_pytorch.py [--device cuda] [--threads 2]

Prints one JSON document; milliseconds per iteration, with and without a CUDA graph. Not needed by any test.
"""
import argparse
import json
import time

import torch

options = argparse.ArgumentParser()
options.add_argument("--device", default="cpu")
options.add_argument("--threads", type=int, default=2)
options.add_argument("--rounds", type=int, default=5)
options = options.parse_args()

torch.set_num_threads(options.threads)
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cuda.matmul.allow_tf32 = True
cuda = options.device != "cpu"
iterations = 200 if cuda else 5

CASES = {
    "conv2d 64→64 3×3 on 5×64×56×56": (torch.conv2d, (5, 64, 56, 56), (64, 64, 3, 3)),
    "conv3d 64→64 3³ on 1×64×5×56×56": (torch.conv3d, (1, 64, 5, 56, 56), (64, 64, 3, 3, 3)),
    "conv3d 64→64 3³ on 2×64×5×56×56": (torch.conv3d, (2, 64, 5, 56, 56), (64, 64, 3, 3, 3)),
}


def measure(body, count=iterations):
    def once():
        if cuda:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            body()
        if cuda:
            torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1000 / count

    once()
    return sorted(once() for _ in range(options.rounds))[options.rounds // 2]


def graphed(body, reset):
    if not cuda:
        return None
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            reset()
            body()
    torch.cuda.current_stream().wait_stream(side)
    reset()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return measure(graph.replay)


def convolution(operation, shape, weight_shape):
    torch.manual_seed(0)
    x = torch.randn(shape, device=options.device)
    w = torch.randn(weight_shape, device=options.device) * 0.05

    def reset():
        x.grad = None
        w.grad = None

    def forward():
        return operation(x, w, padding=1)

    with torch.no_grad():
        forwards = {"pytorch": measure(forward), "graph": graphed(forward, reset)}
    x.requires_grad_()
    w.requires_grad_()

    def both():
        forward().sum().backward()

    def step():
        both()
        reset()

    return {"forward": forwards, "forwardBackward": {"pytorch": measure(step), "graph": graphed(both, reset)}}


a = torch.ones(1, device=options.device)
result = {"device": options.device, "torch": torch.__version__, "perCallMicroseconds": measure(lambda: a + a, 50000) * 1000}
result.update({name: convolution(*case) for name, case in CASES.items()})
print(json.dumps(result, indent=2, ensure_ascii=False))
