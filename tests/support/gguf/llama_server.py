"""The HTTP server of llama.cpp on a GGUF file, until it is killed.

    python llama_server.py FILE NAME PORT [FLOAT32]

With a fourth argument its weights are written to that file in float32, and everything is computed so.
"""

import sys
import time

import xllamacpp

from widened import in_float32, widened

file, name, port, *float32 = sys.argv[1:]
params = xllamacpp.CommonParams()
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.model.path = float32[0] if float32 else file
params.model_alias = {name}
params.n_ctx = 1024
params.n_parallel = 2
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup = False
if float32:
    in_float32(params)
    widened(file, float32[0])
server = xllamacpp.Server(params)
time.sleep(1e9)
