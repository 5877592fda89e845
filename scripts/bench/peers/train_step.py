"""The training step of scripts/bench in PyTorch: forward, backward, clipping by global norm, AdamW.

    python train_step.py '{"threads": 2, "repeats": 7, "sequences": 8, "length": 256, ...}'

Prints one JSON object. The model is MiniMind-3's layout (Qwen3 with tied embeddings), written as one would
write it for speed in eager PyTorch: scaled_dot_product_attention, fused AdamW.
"""

import contextlib
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, hd = c["hiddenSize"], c["headDim"]
        self.heads, self.kv, self.hd, self.eps = c["heads"], c["kvHeads"], hd, c["rmsNormEps"]
        self.n1 = nn.Parameter(torch.ones(width))
        self.n2 = nn.Parameter(torch.ones(width))
        self.qn = nn.Parameter(torch.ones(hd))
        self.kn = nn.Parameter(torch.ones(hd))
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.q, self.k = linear(width, self.heads * hd), linear(width, self.kv * hd)
        self.v, self.o = linear(width, self.kv * hd), linear(self.heads * hd, width)
        inner = c["intermediateSize"]
        self.gate, self.up, self.down = linear(width, inner), linear(width, inner), linear(inner, width)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        h = F.rms_norm(x, (x.shape[-1],), self.n1, self.eps)
        q = F.rms_norm(self.q(h).view(b, t, self.heads, self.hd), (self.hd,), self.qn, self.eps)
        k = F.rms_norm(self.k(h).view(b, t, self.kv, self.hd), (self.hd,), self.kn, self.eps)
        v = self.v(h).view(b, t, self.kv, self.hd).transpose(1, 2)
        q, k = rotate(q.transpose(1, 2), cos, sin), rotate(k.transpose(1, 2), cos, sin)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, -1))
        h = F.rms_norm(x, (x.shape[-1],), self.n2, self.eps)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def rotate(x, cos, sin):
    low, high = x.chunk(2, -1)
    return x * cos + torch.cat((-high, low), -1) * sin


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed = nn.Embedding(c["vocabSize"], c["hiddenSize"])
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["layers"]))
        self.norm = nn.Parameter(torch.ones(c["hiddenSize"]))
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, 0, 0.02)
        hd, t = c["headDim"], c["length"]
        rates = c["ropeTheta"] ** (-torch.arange(0, hd, 2).float() / hd)
        angles = torch.outer(torch.arange(t).float(), rates)
        angles = torch.cat((angles, angles), -1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens, targets):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        x = F.rms_norm(x, (x.shape[-1],), self.norm, self.c["rmsNormEps"])
        logits = F.linear(x, self.embed.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


def measure(c, compiled, bf16):
    torch.manual_seed(1)
    model = Decoder(c)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=3e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, fused=True
    )
    tokens = torch.randint(c["vocabSize"], (c["sequences"], c["length"] + 1))
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    run = torch.compile(model) if compiled else model
    width = torch.autocast("cpu", torch.bfloat16) if bf16 else contextlib.nullcontext()
    seconds = []
    for i in range(-2, c["repeats"]):
        started = time.perf_counter()
        with width:
            loss = run(inputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if i >= 0:
            seconds.append(time.perf_counter() - started)
    return seconds


def main():
    c = json.loads(sys.argv[1])
    torch.set_num_threads(c["threads"])
    variants = []
    for name, compiled, bf16 in [
        ("eager fp32", False, False),
        ("compile fp32", True, False),
        ("eager bf16 autocast", False, True),
        ("compile bf16 autocast", True, True),
    ]:
        try:
            seconds = measure(c, compiled, bf16)
            variants.append({"name": name, "medianS": statistics.median(seconds), "seconds": seconds})
        except Exception as problem:  # a variant that cannot run here is reported, not hidden
            variants.append({"name": name, "error": f"{type(problem).__name__}: {problem}"[:300]})
    print(json.dumps({"version": torch.__version__, "threads": c["threads"], "variants": variants}))


main()
