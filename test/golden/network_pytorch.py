"""DualFocus (`base` and `small` of src/model/config.ts, without optional parts) and its losses, written in plain PyTorch.

    python3 test/golden/network_pytorch.py > test/golden/network_pytorch.json
    python3 test/golden/network_pytorch.py time [--device cuda] [--models base,small] [--batch-size 24] [--planes 5] [--size 224]
    python3 test/golden/network_pytorch.py check BASE.safetensors

The first computes losses, p, depth and gradients of two miniature networks in float64, for test/model/networkGolden.test.ts: weights,
pictures and depth are formulas, the same here and there. The file beside this one was made with PyTorch 2.13.0 on a CPU. The second
times whole training steps and inference in eager mode; the third loads a weights file by name. Modules have the names of our
parameters. The surface is had by the pseudo-inverse of the difference operator, not by cosines.
"""
import argparse
import json
import math
import struct
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

CONFIGS = {
    "base": dict(widths=(64, 128, 256, 512), out=32, up=3, pooling=True, surface=16, grid=14, coarse=128, fusion=(256, 128, 64),
                 handed=(128, 64), hand=3, head=64, taps=None),
    "small": dict(widths=(32, 64, 128, 192), out=16, up=1, pooling=False, surface=16, grid=14, coarse=48, fusion=(64, 32, 24),
                  handed=(32, 16), hand=1, head=16, taps=8),
    # the wiring of each in miniature; 64 does not divide by the second's grid
    "tinyBase": dict(widths=(6, 8, 10, 12), out=4, up=3, pooling=True, surface=3, grid=8, coarse=5, fusion=(10, 8, 6),
                     handed=(7, 5), hand=3, head=6, taps=None),
    "tinySmall": dict(widths=(6, 8, 10, 12), out=4, up=1, pooling=False, surface=3, grid=14, coarse=5, fusion=(10, 8, 6),
                      handed=(7, 5), hand=1, head=6, taps=4),
}


class ConvNorm(nn.Module):
    """Convolution without bias, batch norm, activation."""

    def __init__(self, dims, inputs, outputs, kernel, activation=F.relu):
        super().__init__()
        conv, norm = (nn.Conv2d, nn.BatchNorm2d) if dims == 2 else (nn.Conv3d, nn.BatchNorm3d)
        self.conv = conv(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm = norm(outputs)
        self.activation = activation

    def forward(self, x):
        y = self.norm(self.conv(x))
        return self.activation(y) if self.activation else y


def leaky(x):
    return F.leaky_relu(x, 0.1)


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        skip = x if self.downsample is None else self.downsample(x)
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + skip)


class Trunk(nn.Module):
    """ResNet-18 without its classifier."""

    def __init__(self, widths):
        super().__init__()
        self.conv1 = nn.Conv2d(3, widths[0], 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        for i, width in enumerate(widths):
            inputs, stride = (widths[i - 1], 2) if i else (widths[0], 1)
            setattr(self, f"layer{i + 1}", nn.Sequential(BasicBlock(inputs, width, stride), BasicBlock(width, width, 1)))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        features = []
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
            features.append(x)
        return features


class PyramidPooling(nn.ModuleList):
    """Means over windows of 3, 5, 9 and over everything."""

    def __init__(self, channels):
        super().__init__(ConvNorm(2, channels, channels, 1, leaky) for _ in range(4))

    def forward(self, x):
        pooled = [F.avg_pool2d(x, side, 1, side // 2, count_include_pad=False) for side in (3, 5, 9)]
        pooled.append(x.mean((2, 3), keepdim=True))
        return F.relu((x + sum(branch(y) for branch, y in zip(self, pooled)) / 4) / 2)


class TopDownStep(nn.Module):
    def __init__(self, coarse, fine, kernel):
        super().__init__()
        self.up = ConvNorm(2, coarse, fine, kernel, leaky)
        self.join = ConvNorm(2, 2 * fine, fine, 3, leaky)
        self.kernel = kernel

    def forward(self, coarse, lateral):
        def twice(x):
            return F.interpolate(x, scale_factor=2, mode="nearest")

        up = self.up(twice(coarse)) if self.kernel == 3 else twice(self.up(coarse))
        return self.join(torch.cat([lateral, up], 1))


class Pyramid(nn.Module):
    def __init__(self, widths, out, kernel):
        super().__init__()
        self.to16 = TopDownStep(widths[3], widths[2], kernel)
        self.to8 = TopDownStep(widths[2], widths[1], kernel)
        self.to4 = TopDownStep(widths[1], widths[0], kernel)
        for scale, width in zip((4, 8, 16, 32), widths):
            setattr(self, f"project{scale}", ConvNorm(2, width, out, 1, leaky))

    def forward(self, quarter, eighth, sixteenth, thirty_second):
        sixteenth = self.to16(thirty_second, sixteenth)
        eighth = self.to8(sixteenth, eighth)
        quarter = self.to4(eighth, quarter)
        return self.project4(quarter), self.project8(eighth), self.project16(sixteenth), self.project32(thirty_second)


class Encoder(nn.Module):
    def __init__(self, widths, out, up, pooling):
        super().__init__()
        self.trunk = Trunk(widths)
        self.pooling = PyramidPooling(widths[3]) if pooling else nn.Identity()
        self.pyramid = Pyramid(widths, out, up)
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1), persistent=False)
        self.register_buffer("deviation", torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1), persistent=False)

    def forward(self, images):
        """[B, N, 3, H, W] → four volumes [B, C, N, h, w]."""
        *finer, coarsest = self.trunk((images.flatten(0, 1) - self.mean) / self.deviation)
        scales = self.pyramid(*finer, self.pooling(coarsest))
        return [scale.unflatten(0, images.shape[:2]).transpose(1, 2) for scale in scales]


def augment(volume):
    """V* (eq. 1): the features and their differences, the last one repeated."""
    change = volume.diff(dim=2)
    return torch.cat([volume, torch.cat([change, change[:, :, -1:]], 2)], 1)


def resize(volume, size):
    """Bilinear, every plane by itself."""
    if volume.shape[-2:] == tuple(size):
        return volume
    return F.interpolate(volume.flatten(1, 2), size=size, mode="bilinear", align_corners=False).reshape(*volume.shape[:3], *size)


def by_plane(module, volume):
    """A 2-D module over every plane of [B, C, N, h, w]."""
    return module(volume.transpose(1, 2).flatten(0, 1)).unflatten(0, (volume.shape[0], volume.shape[2])).transpose(1, 2)


def difference_operator(side):
    """P (eq. 3), [2·side², side²]: forward differences along x, then along y; none behind the last pixel."""
    step = torch.diag(torch.ones(side - 1, dtype=torch.float64), 1) - torch.eye(side, dtype=torch.float64)
    step[-1] = 0
    one = torch.eye(side, dtype=torch.float64)
    return torch.cat([torch.kron(one, step), torch.kron(step, one)])


class Variational(nn.Module):
    """Γ, the surface z* of zero mean that fits it best, and what is made of it (§3.3)."""

    def __init__(self, inputs, channels, grid, outputs):
        super().__init__()
        self.gradientHead = nn.ModuleDict({
            "inner": nn.Conv2d(inputs, inputs, 3, padding=1),
            "outer": nn.Conv2d(inputs, 2 * channels, 3, padding=1),
        })
        self.surfaceGradientHead = nn.Conv2d(channels, 2, 3, padding=1)
        self.norm = nn.GroupNorm(1, channels)
        self.expand = nn.Conv2d(channels, outputs, 3, padding=1)
        self.grid = grid
        inverse = torch.linalg.pinv(difference_operator(grid)).T.contiguous()
        self.register_buffer("inverse", inverse.to(torch.get_default_dtype()), persistent=False)

    def gradient_field(self, pictures):
        return self.gradientHead["outer"](F.leaky_relu(self.gradientHead["inner"](pictures), 0.01))

    def forward(self, volume):
        field = by_plane(self.gradient_field, resize(volume, (self.grid, self.grid)))
        gamma_x, gamma_y = field.to(self.inverse.dtype).flatten(3).chunk(2, 1)
        with torch.autocast(volume.device.type, enabled=False):
            surface = (torch.cat([gamma_x, gamma_y], 3) @ self.inverse).unflatten(3, (self.grid, self.grid))
        return by_plane(self.expand, self.norm(surface)), by_plane(self.surfaceGradientHead, surface)


class ResidualBlock3d(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = ConvNorm(3, inputs, outputs, 3)
        self.second = ConvNorm(3, outputs, outputs, 3, None)
        self.skip = ConvNorm(3, inputs, outputs, 1, None) if inputs != outputs else None

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + (x if self.skip is None else self.skip(x)))


class Decoder(nn.Module):
    """Fusion at 1/16, 1/8, 1/4 and the head (A.3)."""

    def __init__(self, volume, coarse, fusion, handed, hand, head, taps):
        super().__init__()
        for scale, inputs, outputs in zip((16, 8, 4), (coarse, *handed), fusion):
            setattr(self, f"fuse{scale}", nn.Sequential(ResidualBlock3d(volume + inputs, outputs), ResidualBlock3d(outputs, outputs)))
        self.to8 = ConvNorm(3, fusion[0], handed[0], hand)
        self.to4 = ConvNorm(3, fusion[1], handed[1], hand)
        self.tap16 = ConvNorm(3, fusion[0], taps, 1) if taps else nn.Identity()
        self.tap8 = ConvNorm(3, fusion[1], taps, 1) if taps else nn.Identity()
        joined = (taps or fusion[0]) + (taps or fusion[1]) + fusion[2]
        self.head = ConvNorm(3, joined, head, 3)
        self.logit = nn.Conv3d(head, 1, 3, padding=1)
        self.hand = hand

    def hand_on(self, conv, x, size):
        return conv(resize(x, size)) if self.hand == 3 else resize(conv(x), size)

    def forward(self, quarter, eighth, sixteenth, coarse):
        size16, size8, size4 = sixteenth.shape[-2:], eighth.shape[-2:], quarter.shape[-2:]
        at16 = self.fuse16(torch.cat([sixteenth, resize(coarse, size16)], 1))
        at8 = self.fuse8(torch.cat([eighth, self.hand_on(self.to8, at16, size8)], 1))
        at4 = self.fuse4(torch.cat([quarter, self.hand_on(self.to4, at8, size4)], 1))
        joined = torch.cat([resize(self.tap16(at16), size4), resize(self.tap8(at8), size4), at4], 1)
        return self.logit(self.head(joined)).squeeze(1)


class DualFocus(nn.Module):
    def __init__(self, widths, out, up, pooling, surface, grid, coarse, fusion, handed, hand, head, taps):
        super().__init__()
        self.encoder = Encoder(widths, out, up, pooling)
        self.variational = Variational(2 * out, surface, grid, coarse)
        self.decoder = Decoder(2 * out, coarse, fusion, handed, hand, head, taps)

    def forward(self, images, distances):
        """Depth [B, 1, H, W], p [B, N, H, W] and the gradient predicted from the surface, [B, 2, N, h, w]."""
        *finer, coarsest = map(augment, self.encoder(images))
        coarse, surface_gradient = self.variational(coarsest)
        logits = self.decoder(*finer, coarse)
        logits = logits.float() if logits.dtype == torch.bfloat16 else logits
        p = F.interpolate(logits, size=images.shape[-2:], mode="bilinear", align_corners=False).softmax(1)
        return (p * distances[:, :, None, None]).sum(1, keepdim=True), p, surface_gradient


def masked_mean(values, valid):
    return (values * valid).sum() / valid.sum().clamp(min=1)


def cell_means(map, side):
    """Means over side × side cells, fractions of pixels counted."""
    repeat = [side // math.gcd(size, side) for size in map.shape[-2:]]
    finer = map.repeat_interleave(repeat[0], -2).repeat_interleave(repeat[1], -1) if repeat != [1, 1] else map
    return F.avg_pool2d(finer, [size // side for size in finer.shape[-2:]])


def spatial_loss(surface_gradient, distances, depth, valid):
    """L_sv (eq. 5), τ = 1."""
    share = cell_means(valid, surface_gradient.shape[-1])
    known = (share > 0).to(depth.dtype)
    cells = torch.where(share > 0, cell_means(depth * valid, surface_gradient.shape[-1]) / share.clamp(min=1e-12), 0)
    q = (-(distances[:, :, None, None] - cells).abs()).softmax(1)
    x = (cells.diff(dim=3) - surface_gradient[:, 0, :, :, :-1]).abs() * known[..., 1:] * known[..., :-1]
    y = (cells.diff(dim=2) - surface_gradient[:, 1, :, :-1]).abs() * known[:, :, 1:] * known[:, :, :-1]
    return masked_mean((q * (F.pad(x, (0, 1)) + F.pad(y, (0, 0, 0, 1)))).sum(1, keepdim=True), known)


def focal_losses(p, valid):
    """L_fv (eq. 7), and the same demand on log p but for the steps that touch the peak."""
    peak = p.argmax(1, keepdim=True)
    pair = torch.arange(p.shape[1] - 1, device=p.device).reshape(1, -1, 1, 1)
    sign = torch.where(pair < peak, -1, 1)
    focal = F.relu(sign * p.diff(dim=1)).square().sum(1, keepdim=True)
    touches = (pair == peak) | (pair == peak - 1)
    trend = F.relu(0.05 + sign * (p + 1e-6).log().diff(dim=1)).masked_fill(touches, 0).sum(1, keepdim=True)
    return masked_mean(focal, valid), masked_mean(trend, valid)


def losses(prediction, distances, true_depth, valid):
    """The parts and the total with the weights of the preset `render`."""
    depth, p, surface_gradient = prediction
    parts = {
        "depth": masked_mean(F.smooth_l1_loss(depth, true_depth, beta=0.15, reduction="none"), valid),
        "spatial": spatial_loss(surface_gradient, distances, true_depth, valid),
    }
    parts["focal"], parts["trend"] = focal_losses(p, valid)
    parts["total"] = parts["depth"] + parts["spatial"] + 100 * parts["focal"] + 0.02 * parts["trend"]
    return parts


def read_safetensors(path):
    """f32 and f16 as they are; int8 times its scale for each output channel."""
    types = {"F32": torch.float32, "F16": torch.float16, "I8": torch.int8}
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), bytearray(file.read())
    whole = json.loads(header.pop("__metadata__", {}).get("dualfocus.int8", "[]"))
    state = {
        name: torch.frombuffer(data[slice(*entry["data_offsets"])], dtype=types[entry["dtype"]]).reshape(entry["shape"]).float()
        for name, entry in header.items()
    }
    for name in whole:
        state[name] *= state.pop(f"{name}.scale").reshape(-1, *[1] * (state[name].ndim - 1))
    return state


def load(network, state):
    """By name; PyTorch's counters of batches are the only names that we do not have."""
    missing, unexpected = network.load_state_dict(state, strict=False)
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    assert not missing and not unexpected, f"missing {missing}, unexpected {unexpected}"
    return network


def own_state(network):
    return {name: tensor for name, tensor in network.state_dict().items() if not name.endswith("num_batches_tracked")}


# --- golden values ---------------------------------------------------------------------------------------------------------------


def wave(name, shape):
    """A weight: waves whose phase is told by the name. Convolutions have the variance of He et al., norms are near 1 and 0."""
    phase = 0
    for letter in name:
        phase = (31 * phase + ord(letter)) % 1009
    sine = torch.sin(1.7 * torch.arange(math.prod(shape)) + phase).reshape(shape)
    if len(shape) > 1:
        return 2 / math.sqrt(math.prod(shape[1:])) * sine
    return (1 if name.endswith(("weight", "running_var")) else 0) + 0.2 * sine


def formula_batch(batch, planes, height, width):
    """Waves that are sharpest on one plane, focus distances and depth in planes, and some pixels without depth."""
    i = torch.arange(batch * planes * 3 * height * width)
    x, y, picture = i % width, i // width % height, i // (width * height)
    images = 0.5 + 0.3 * torch.sin(x / 3 + picture) * torch.cos(y / 5 - picture) + 0.2 * torch.sin(0.9 * i)
    j = torch.arange(batch * height * width)
    x, y, stack = j % width, j // width % height, j // (width * height)
    depth = (planes - 1) * (0.5 + 0.5 * torch.sin(0.11 * x + 0.07 * y + stack))
    valid = ((x // 9 + y // 7) % 5 != 0) & (x < width - 20)
    n = torch.arange(batch * planes)
    return {
        "images": images.reshape(batch, planes, 3, height, width),
        "distances": (n % planes + 0.1 * torch.sin(1.0 * n)).reshape(batch, planes),
        "true_depth": depth.reshape(batch, 1, height, width),
        "valid": valid.double().reshape(batch, 1, height, width),
    }


def golden(name):
    network = DualFocus(**CONFIGS[name])
    load(network, {key: wave(key, tensor.shape) for key, tensor in own_state(network).items()})
    batch = formula_batch(2, 4, 64, 96)
    network.train()
    prediction = network(batch["images"], batch["distances"])
    parts = losses(prediction, batch["distances"], batch["true_depth"], batch["valid"])
    parts["total"].backward()
    network.eval()  # with the running statistics that the step left
    with torch.no_grad():
        later, *_ = network(batch["images"], batch["distances"])
    depth, p, _ = prediction
    spread = [depth.mean(), depth.std(), depth.min(), depth.max()]
    return {
        "losses": {key: part.item() for key, part in parts.items()},
        "probability": p[:, :, 5::19, 3::23].flatten().tolist(),
        "depth": [value.item() for value in spread],
        "inference": later[:, 0, 5::19, 3::23].flatten().tolist(),
        "gradients": {key: [tensor.grad.norm().item(), (tensor.grad * wave(key, tensor.shape)).sum().item()]
                      for key, tensor in network.named_parameters()},
    }


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.12g}")


def print_golden():
    torch.set_default_dtype(torch.float64)
    cases = {name: rounded(golden(name)) for name in ("tinyBase", "tinySmall")}
    print(json.dumps({"pytorch": torch.__version__, **cases}))


# --- timing ----------------------------------------------------------------------------------------------------------------------


def seconds(device, body, warm_up, count):
    """Of one call, the mean of `count`."""
    def run(times):
        for _ in range(times):
            body()
        if device == "cuda":
            torch.cuda.synchronize()

    run(warm_up)
    start = time.perf_counter()
    run(count)
    return (time.perf_counter() - start) / count


def time_training(name, options, bf16):
    torch.manual_seed(0)
    device, batch, planes, size = options.device, options.batch_size, options.planes, options.size
    network = DualFocus(**CONFIGS[name]).to(device).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    images = torch.rand(batch, planes, 3, size, size, device=device)
    distances = torch.arange(float(planes), device=device).repeat(batch, 1)
    true_depth = (planes - 1) * torch.rand(batch, 1, size, size, device=device)
    valid = torch.ones_like(true_depth)

    def step():
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16, enabled=bf16):
            prediction = network(images, distances)
        losses(prediction, distances, true_depth, valid)["total"].backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1)
        optimizer.step()

    taken = seconds(device, step, options.warm_up, options.steps)
    return {"millisecondsPerStep": 1e3 * taken, "stacksPerSecond": batch / taken}


def time_inference(name, options, bf16):
    torch.manual_seed(0)
    device, planes = options.device, options.planes
    height, width = options.picture
    network = DualFocus(**CONFIGS[name]).to(device).eval()
    images = torch.rand(1, planes, 3, height, width, device=device)
    distances = torch.arange(float(planes), device=device).repeat(1, 1)

    def run():
        with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=bf16):
            network(images, distances)

    return {"milliseconds": 1e3 * seconds(device, run, options.warm_up, options.steps)}


def print_times(options):
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cuda.matmul.allow_tf32 = True
    device_name = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    result = {"pytorch": torch.__version__, "device": device_name, "batch": options.batch_size, "planes": options.planes, "size": options.size,
              "picture": options.picture}
    for name in options.models.split(","):
        for what, measure in (("training", time_training), ("inference", time_inference)):
            for precision in options.precisions.split(","):
                row = measure(name, options, precision == "bf16")
                print(name, what, precision, row, file=sys.stderr, flush=True)
                result.setdefault(name, {}).setdefault(what, {})[precision] = row
                if options.device == "cuda":
                    torch.cuda.empty_cache()
    print(json.dumps(result, indent=1))


def check(path):
    """Loads a weights file by name into the network it is for."""
    state = read_safetensors(path)
    name = next(name for name in ("base", "small") if CONFIGS[name]["widths"][0] == len(state["encoder.trunk.bn1.weight"]))
    network = load(DualFocus(**CONFIGS[name]), state).eval()
    with torch.no_grad():
        depth, *_ = network(torch.rand(1, 5, 3, 64, 96), torch.arange(5.0)[None])
    print(json.dumps({"network": name, "parameters": sum(p.numel() for p in network.parameters()), "meanDepth": depth.mean().item()}))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("mode", nargs="?", default="golden", choices=["golden", "time", "check"])
    arguments.add_argument("file", nargs="?", help="for `check`")
    arguments.add_argument("--device", default="cpu")
    arguments.add_argument("--models", default="base,small")
    arguments.add_argument("--batch-size", type=int, default=24)
    arguments.add_argument("--planes", type=int, default=5)
    arguments.add_argument("--size", type=int, default=224)
    arguments.add_argument("--picture", type=int, nargs=2, default=[384, 576], help="height and width for inference")
    arguments.add_argument("--precisions", default="bf16,f32")
    arguments.add_argument("--warm-up", type=int, default=12)
    arguments.add_argument("--steps", type=int, default=30)
    options = arguments.parse_args()
    if options.mode == "golden":
        print_golden()
    elif options.mode == "check":
        check(options.file)
    else:
        print_times(options)
