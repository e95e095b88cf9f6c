"""Trains the net of test/helpers/wireNet.ts for 200 steps of Adam in PyTorch, in float64, and prints the loss of every step.

    python3 test/golden/train_pytorch.py > test/golden/train_pytorch.json

Weights, pictures and depth are formulas, the same here and in test/train/trace.test.ts. The file beside this one was made with
PyTorch 2.13.0 on a CPU.
"""
import json
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
BATCH, PLANES, HEIGHT, WIDTH, CHANNELS, STEPS = 2, 3, 16, 24, 6, 200


def wave(shape, name):
    """A weight: waves whose phase is the name's length, with the variance of He et al."""
    fan_in = math.prod(shape[1:])
    i = torch.arange(math.prod(shape))
    return (math.sqrt(2 / fan_in) * math.sqrt(2) * torch.sin(1 + 1.7 * i + len(name))).reshape(shape).requires_grad_()


def norm(name):
    return {
        "weight": torch.ones(CHANNELS).requires_grad_(),
        "bias": torch.zeros(CHANNELS).requires_grad_(),
        "running": (torch.zeros(CHANNELS), torch.ones(CHANNELS)),
    }


def batch_norm(x, parameters):
    mean, variance = parameters["running"]
    return F.batch_norm(x, mean, variance, parameters["weight"], parameters["bias"], training=True, momentum=0.1, eps=1e-5)


stem, stem_norm = wave((CHANNELS, 3, 3, 3), "stem.weight"), norm("stem.norm")
deep, deep_bias, deep_norm = wave((CHANNELS, CHANNELS, 3, 3), "deep.weight"), torch.zeros(CHANNELS).requires_grad_(), norm("deep.norm")
volume, volume_norm = wave((CHANNELS, CHANNELS, 3, 3, 3), "volume.weight"), norm("volume.norm")
group_weight, group_bias = torch.ones(CHANNELS).requires_grad_(), torch.zeros(CHANNELS).requires_grad_()
lone_norm = norm("lone")
head = wave((1, CHANNELS, 3, 3, 3), "head.weight")
norms = [stem_norm, deep_norm, volume_norm, lone_norm]
parameters = [stem, deep, deep_bias, volume, group_weight, group_bias, head, *(n[key] for n in norms for key in ("weight", "bias"))]


def forward(images, distances):
    half = F.relu(batch_norm(F.conv2d(images.reshape(BATCH * PLANES, 3, HEIGHT, WIDTH), stem, stride=2, padding=1), stem_norm))
    quarter = F.leaky_relu(batch_norm(F.conv2d(half, deep, deep_bias, stride=2, padding=1), deep_norm), 0.1)
    merged = F.interpolate(quarter, size=half.shape[2:], mode="bilinear", align_corners=False) + half
    planes = merged.reshape(BATCH, PLANES, CHANNELS, *half.shape[2:]).permute(0, 2, 1, 3, 4)
    filtered = F.relu(batch_norm(F.conv3d(planes, volume, padding=1), volume_norm))
    grouped = F.group_norm(filtered, 2, group_weight, group_bias, 1e-5) + planes
    logits = F.conv3d(batch_norm(grouped, lone_norm), head, padding=1).squeeze(1)
    p = F.interpolate(logits, size=(HEIGHT, WIDTH), mode="bilinear", align_corners=False).softmax(1)
    return (p * distances.reshape(BATCH, PLANES, 1, 1)).sum(1, keepdim=True)


count = BATCH * PLANES * 3 * HEIGHT * WIDTH
images = (0.5 + 0.5 * torch.sin(0.9 * torch.arange(count))).reshape(BATCH, PLANES, 3, HEIGHT, WIDTH)
distances = torch.arange(1.0, PLANES + 1).repeat(BATCH, 1)
i = torch.arange(BATCH * HEIGHT * WIDTH)
true_depth = (2 + torch.sin(0.3 * (i % WIDTH) + 0.2 * torch.div(i, WIDTH, rounding_mode="floor"))).reshape(BATCH, 1, HEIGHT, WIDTH)

optimizer = torch.optim.Adam(parameters, lr=0.01, betas=(0.9, 0.999), eps=1e-8)
losses = []
for step in range(STEPS):
    optimizer.zero_grad()
    loss = F.smooth_l1_loss(forward(images, distances), true_depth, beta=0.5)
    loss.backward()
    optimizer.step()
    losses.append(float(f"{loss.item():.10g}"))
print(json.dumps({"pytorch": torch.__version__, "losses": losses}, indent=None))
