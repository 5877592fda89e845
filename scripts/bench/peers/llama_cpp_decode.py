"""Decoding of a Hugging Face folder, shaped as Llama or Qwen3, by llama.cpp in float32: tokens a second for each number of requests at once.

    python llama_cpp_decode.py '{"model": "FOLDER", "folder": "TEMPORARY", "threads": 2, "batches": [1, 4], "promptTokens": 64,
                                 "newTokens": 128, "port": 18401,
                                 "turns": {"prompts": [[1, 2], [3, 4]], "maxTokens": 128}}'

Prints one JSON object. The model is written as GGUF first. Requests go to llama.cpp's own server on this machine, which
batches them; the key-value cache and attention are float32, as ours.
"""

import concurrent.futures
import json
import os
import sys
import time
import urllib.request
from importlib.metadata import version

import gguf
import xllamacpp
from safetensors.numpy import load_file

order = json.loads(sys.argv[1])


def to_gguf(model, file):
    with open(os.path.join(model, "config.json")) as source:
        config = json.load(source)
    with open(os.path.join(model, "tokenizer.json")) as source:
        tokenizer = json.load(source)
    llama = config["model_type"] == "llama"
    writer = gguf.GGUFWriter(file, "llama" if llama else "qwen3")
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    names = {index: token for token, index in tokenizer["model"]["vocab"].items()}
    special = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    names.update(special)
    tokens = [names.get(index, f"<unused {index}>") for index in range(config["vocab_size"])]
    kinds = [gguf.TokenType.CONTROL if index in special else gguf.TokenType.NORMAL for index in range(len(tokens))]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(config["eos_token_id"])
    parts = {
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "self_attn.q_norm": "attn_q_norm",
        "self_attn.k_norm": "attn_k_norm",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }
    fixed = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
    for name, values in load_file(os.path.join(model, "model.safetensors")).items():
        if name in fixed:
            own = fixed[name]
        elif name.startswith("model.layers."):
            layer, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
            own = f"blk.{layer}.{parts[part]}.weight"
        else:
            sys.exit(f"{name} has no place in the GGUF that is written here.")
        writer.add_tensor(own, (pairwise(own, values, config) if llama else values).astype("float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def pairwise(name, values, config):
    """GGUF turns neighbours of a llama's queries and keys, Hugging Face halves of each head."""
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}.get(name.split(".")[-2])
    if heads is None:
        return values
    rows, inputs = values.shape
    return values.reshape(config[heads], 2, rows // config[heads] // 2, inputs).swapaxes(1, 2).reshape(rows, inputs)


def serve(file, requests, port):
    params = xllamacpp.CommonParams()
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.model.path = file
    params.n_parallel = requests
    params.n_ctx = requests * (order["promptTokens"] + order["newTokens"] + 64)
    params.n_batch = params.n_ubatch = 2048
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"]
    params.warmup = False
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return xllamacpp.Server(params)


def completed(port, prompt, count, seed, ignore_eos):
    """How many tokens were drawn, the one included that ends a turn."""
    body = {
        "prompt": prompt,
        "n_predict": count,
        "temperature": 1.0,
        "samplers": ["temperature"],
        "seed": seed,
        "ignore_eos": ignore_eos,
        "cache_prompt": True,
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["timings"]["predicted_n"]


def complete(port, count, seed):
    prompt = [(7 * place + 1) % 1000 + 5 for place in range(order["promptTokens"])]
    return completed(port, prompt, count, seed, True)


def measure(file, batch, port):
    server = serve(file, batch, port)
    with concurrent.futures.ThreadPoolExecutor(batch) as pool:
        # The prompt is computed before the clock starts, as ours is.
        list(pool.map(lambda seed: complete(port, 1, seed), range(batch)))
        wall, cpu = time.perf_counter(), time.process_time()
        tokens = sum(pool.map(lambda seed: complete(port, order["newTokens"], seed), range(batch)))
        result = {
            "batch": batch,
            "tokensPerSecond": tokens / (time.perf_counter() - wall),
            "cpuS": time.process_time() - cpu,
            "tokens": tokens,
        }
    del server
    return result


def tokens_of_turns(file, port):
    """Tokens a second of turns of one row, their prompts included; half of the turns come before the clock starts."""
    server = serve(file, 1, port)
    prompts = order["turns"]["prompts"]
    half = (len(prompts) + 1) // 2
    draw = lambda some: sum(completed(port, prompt, order["turns"]["maxTokens"], 1, False) for prompt in some)
    draw(prompts[:half])
    wall = time.perf_counter()
    tokens = draw(prompts[half:])
    rate = tokens / (time.perf_counter() - wall)
    del server
    return rate


file = os.path.join(order["folder"], "model.gguf")
to_gguf(order["model"], file)
port = order["port"]
rates = [measure(file, batch, port + place) for place, batch in enumerate(order["batches"])]
turns = tokens_of_turns(file, port + len(rates))
print(json.dumps({"version": f"xllamacpp {version('xllamacpp')}", "rates": rates, "turns": turns}))
sys.stdout.flush()
os._exit(0)
