"""Reads what MLflow and W&B have of a run and holds it against its metrics.jsonl: every number of every iteration is there
once, as it was. MLflow is asked by its own client; of W&B's offline file, the records are read with W&B's own messages.

    venv/bin/python tests/support/read_trackers.py RUN MLFLOW_URL
                                                (pip install mlflow==3.17.2 wandb==0.31.0)
"""

import json
import math
import struct
import sys
from pathlib import Path

from mlflow.tracking import MlflowClient
from wandb.proto.wandb_internal_pb2 import Record

run = Path(sys.argv[1])


def mlflow_has():
    kept = json.loads((run / "trackers" / "mlflow.json").read_text())
    client = MlflowClient(sys.argv[2])
    there = client.get_run(kept["run"])
    if there.info.status != "FINISHED":
        raise SystemExit(f"MLflow has the run as {there.info.status}")
    config = [artifact.path for artifact in client.list_artifacts(kept["run"])]
    if sorted(config) != ["config.yaml", "summary.json"] or there.data.params["run.seed"] != "42":
        raise SystemExit(f"MLflow has {config} and {there.data.params}")
    for name in there.data.metrics:
        for metric in client.get_metric_history(kept["run"], name):
            yield name, metric.step, metric.value


def payloads(data):
    """Of a log in the format of LevelDB, after a head of seven bytes: blocks of 32 KiB, in which a record may begin and end."""
    at, parts = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        # The whole of one, or its last part.
        if kind in (1, 4):
            yield parts
            parts = b""


def wandb_has():
    kept = json.loads((run / "trackers" / "wandb.json").read_text())
    ended = False
    for file in run.glob("wandb/offline-run-*/*.wandb"):
        for payload in payloads(file.read_bytes()):
            record = Record()
            record.ParseFromString(payload)
            if record.HasField("run") and record.run.run_id != kept["id"]:
                raise SystemExit(f"W&B has the run as {record.run.run_id}")
            ended = ended or record.HasField("exit") and record.exit.exit_code == 0
            if not record.HasField("history"):
                continue
            row = {(item.key or item.nested_key[0]): json.loads(item.value_json) for item in record.history.item}
            for name, value in row.items():
                if not name.startswith("_") and name != "iteration":
                    yield name, row["iteration"], value
    if not ended:
        raise SystemExit("W&B does not have the end of the run")


def as_stored(tracker, value):
    # MLflow keeps the largest number for an infinity.
    if tracker == "MLflow" and math.isinf(value):
        return math.copysign(sys.float_info.max, value)
    return value


def compare(tracker, numbers):
    found = {}
    for name, step, value in numbers:
        found.setdefault((name, step), []).append(repr(float(value)))
    compared, wrong = 0, [(key, values) for key, values in found.items() if len(values) != 1]
    for line in (run / "metrics.jsonl").read_text().splitlines():
        metrics = json.loads(line)
        iteration = metrics.pop("iteration")
        for name, value in metrics.items():
            # NaN and infinities are texts in metrics.jsonl.
            expected = [repr(as_stored(tracker, float(value)))]
            compared += 1
            if found.get((name, iteration)) != expected:
                wrong.append((iteration, name, value, found.get((name, iteration))))
    before = sum(1 for name, step in found if step == 0 and name.startswith("eval/"))
    print(f"{tracker}: {compared} numbers compared, {len(wrong)} differ, {before} of the evaluation before")
    for one in wrong[:5]:
        print(one)
    return not wrong and compared > 0 and before > 0


sys.exit(0 if all([compare("MLflow", mlflow_has()), compare("W&B", wandb_has())]) else 1)
