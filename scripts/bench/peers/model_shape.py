"""One row of scripts/bench/model-shape in PyTorch: transformers' Qwen3 or Llama, peft's LoRA, float32, eager.

    python model_shape.py '{"task": {"kind": "prefill", "tokens": 512}, "peer": {"attention": "sdpa"}, ...}'

Prints one JSON object: seconds of each timed call, peak resident bytes of this process, versions.
"""

import json
import math
import os
import re
import resource
import sys
import time

import peft
import torch
import transformers


def build(order):
    c = order["config"]
    llama = c["family"] == "llama"
    config = (transformers.LlamaConfig if llama else transformers.Qwen3Config)(
        vocab_size=c["vocabSize"],
        hidden_size=c["hiddenSize"],
        intermediate_size=c["intermediateSize"],
        num_hidden_layers=c["layers"],
        num_attention_heads=c["heads"],
        num_key_value_heads=c["kvHeads"],
        head_dim=c["headDim"],
        max_position_embeddings=c["maxPositions"],
        rope_parameters={"rope_type": "default", "rope_theta": c["ropeTheta"]},
        rms_norm_eps=c["rmsNormEps"],
        tie_word_embeddings=c["tiedEmbeddings"],
        attn_implementation=order["peer"]["attention"],
        bos_token_id=None,
        eos_token_id=None,
    )
    torch.manual_seed(1)
    model = transformers.LlamaForCausalLM if llama else transformers.Qwen3ForCausalLM
    return model(config).float().to(order["device"])


def some_tokens(count, order):
    return (7919 * torch.arange(count, device=order["device"]) + 1) % order["config"]["vocabSize"]


def timed(call, order):
    seconds = []
    device = order["device"]
    settle = (lambda: torch.cuda.synchronize(device)) if device.startswith("cuda") else lambda: None
    for i in range(-order["warmUp"], order["repeats"]):
        started = time.perf_counter()
        call()
        settle()
        if i >= 0:
            seconds.append(time.perf_counter() - started)
    return {"seconds": seconds}


def lora_step(order):
    """Clipped loss and k3; gradient, clipping by global norm, fused AdamW. Sequences of a group come one after the other.

    The first token, and what the sequences of a group have in common, are not trained.
    """
    task = order["task"]
    group = task["kind"] == "lora-group"
    sequences, common = (task["sequences"], task["common"]) if group else (1, 1)
    lora = peft.LoraConfig(
        r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear", init_lora_weights=False
    )
    model = peft.get_peft_model(build(order), lora)
    if group or task["recompute"] == "blocks":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
    model.train()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=1e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0, fused=True
    )
    own = task["tokens"] - common
    tokens = some_tokens(common + sequences * own, order)
    rows = [torch.cat((tokens[:common], part)) for part in tokens[common:].split(own)]
    old = torch.full((own,), -math.log(order["config"]["vocabSize"]), device=order["device"])
    reference, advantages = old.clone(), torch.ones_like(old)
    losses = []

    def gradient(row):
        logits = model(input_ids=row[None], use_cache=False, logits_to_keep=own + 1).logits[0, :-1]
        picked = logits.gather(-1, row[common:, None])[:, 0]
        log_probs = picked - torch.logsumexp(logits, -1)
        ratio = torch.exp(log_probs - old)
        gain = torch.minimum(ratio * advantages, torch.clamp(ratio, 0.8, 1.2) * advantages)
        gap = reference - log_probs
        loss = (-gain + 0.01 * (torch.exp(gap) - gap - 1)).mean() / sequences
        loss.backward()
        return loss.item()

    def step():
        losses.append(sum(gradient(row) for row in rows))
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return {**timed(step, order), "loss": losses[-1]}


@torch.inference_mode()
def prefill(order):
    """Keys and values of a prompt, and the logits of its last token, which this interface cannot leave out."""
    model = build(order).eval()
    tokens = some_tokens(order["task"]["tokens"], order)[None]
    return timed(lambda: model(input_ids=tokens, use_cache=True, logits_to_keep=1), order)


@torch.inference_mode()
def decode(order):
    """One token more for each row: forward, log-probabilities, drawing."""
    task = order["task"]
    rows, cached, steps = task["rows"], task["cached"], task["steps"]
    model = build(order).eval()
    if order["peer"]["cache"] == "static":
        most = cached + (order["warmUp"] + order["repeats"]) * steps
        cache = transformers.StaticCache(config=model.config, max_cache_len=most)
    else:
        cache = transformers.DynamicCache(config=model.config)
    prompt = some_tokens(cached, order)[None].expand(rows, -1)
    model(input_ids=prompt, past_key_values=cache, use_cache=True, logits_to_keep=1)
    device = order["device"]
    state = {"tokens": torch.zeros(rows, 1, dtype=torch.long, device=device), "position": cached}

    def some_steps():
        for _ in range(steps):
            logits = model(
                input_ids=state["tokens"],
                position_ids=torch.full((rows, 1), state["position"], device=device),
                past_key_values=cache,
                use_cache=True,
            ).logits[:, -1]
            log_probs = torch.log_softmax(logits, -1)
            state["tokens"] = torch.multinomial(log_probs.exp(), 1)
            log_probs.gather(-1, state["tokens"])
            state["position"] += 1

    measured = timed(some_steps, order)
    fed = state["position"]
    if int(cache.get_seq_length()) != fed:
        raise RuntimeError(f"the cache holds {cache.get_seq_length()} positions, {fed} were fed")
    return measured


def peak_bytes():
    if os.path.exists("/proc/self/status"):
        with open("/proc/self/status", encoding="utf8") as status:
            own = re.search(r"^VmHWM:\s+(\d+) kB$", status.read(), re.M)
        if own:
            return 1024 * int(own[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def main():
    order = json.loads(sys.argv[1])
    torch.set_num_threads(order["threads"])
    kinds = {"lora-step": lora_step, "lora-group": lora_step, "prefill": prefill, "decode": decode}
    measure = kinds[order["task"]["kind"]]
    measured = measure(order)
    libraries = [torch, transformers, peft]
    versions = ", ".join(f"{one.__name__} {one.__version__}" for one in libraries)
    print(json.dumps({**measured, "peakBytes": peak_bytes(), "versions": versions}))


main()
