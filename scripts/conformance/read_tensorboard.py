"""Reads a run's event files with TensorBoard's own reader and holds them against its metrics.jsonl: every number of every
iteration is there once, as a float32.

    venv/bin/python scripts/conformance/read_tensorboard.py RUN        (pip install tensorboard==2.21.0)
"""

import json
import struct
import sys
from collections import Counter
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

run = Path(sys.argv[1])
read = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0})
read.Reload()
tags = read.Tags()["scalars"]
twice = [
    (tag, step)
    for tag in tags
    for step, count in Counter(event.step for event in read.Scalars(tag)).items()
    if count > 1
]


def single(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0]


compared, wrong = 0, []
for line in (run / "metrics.jsonl").read_text().splitlines():
    metrics = json.loads(line)
    iteration = metrics.pop("iteration")
    for name, value in metrics.items():
        found = [event.value for event in read.Scalars(name) if event.step == iteration] if name in tags else []
        compared += 1
        # NaN and infinities are texts in metrics.jsonl, and NaN is equal to nothing.
        if len(found) != 1 or repr(found[0]) != repr(single(value)):
            wrong.append((iteration, name, value, found))

print(f"{len(tags)} scalars, {compared} numbers compared, {len(wrong)} differ, {len(twice)} are there twice")
for one in wrong[:5] + twice[:5]:
    print(one)
sys.exit(1 if wrong or twice or compared == 0 else 0)
