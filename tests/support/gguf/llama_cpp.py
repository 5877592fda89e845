"""What llama.cpp makes of a GGUF file: tokens of texts, greedy continuations, their log-probabilities.

    python llama_cpp.py '{"file": "model.gguf", "folder": "TEMPORARY", "texts": ["…"], "prompts": [[1, 2]], "tokens": 32}'

Prints {"tokenized": [[ids]], "default": [{"tokens", "logprobs"}], "float32": the same}. `default` is the file as it is with the
server's defaults; `float32` its weights widened to float32, with cache and attention in float32.
"""

import json
import os
import sys
import time
import urllib.request

import xllamacpp

from widened import in_float32, widened

order = json.loads(sys.argv[1])


def serve(file, port, exact):
    params = xllamacpp.CommonParams()
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.model.path = file
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    if exact:
        in_float32(params)
    return xllamacpp.Server(params)


def ask(port, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    for _ in range(600):
        try:
            return json.load(urllib.request.urlopen(request))
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise RuntimeError(f"{path} was not answered.")


def greedy(port):
    answers = []
    for prompt in order["prompts"]:
        answer = ask(
            port,
            "/completion",
            {
                "prompt": prompt,
                "n_predict": order["tokens"],
                "temperature": 0,
                "n_probs": 1,
                "return_tokens": True,
                "cache_prompt": False,
                "samplers": ["temperature"],
            },
        )
        drawn = answer["completion_probabilities"]
        answers.append({"tokens": [one["id"] for one in drawn], "logprobs": [one["logprob"] for one in drawn]})
    return answers


exact = os.path.join(order["folder"], "float32.gguf")
widened(order["file"], exact)
first = serve(order["file"], order["port"], False)
tokenized = [
    ask(order["port"], "/tokenize", {"content": text, "add_special": False, "parse_special": True})["tokens"]
    for text in order["texts"]
]
default = greedy(order["port"])
second = serve(exact, order["port"] + 1, True)
print(json.dumps({"tokenized": tokenized, "default": default, "float32": greedy(order["port"] + 1)}))
sys.stdout.flush()
os._exit(0)
