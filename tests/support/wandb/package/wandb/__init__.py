"""W&B's SDK as far as the tracker's sidecar calls it: its calls go into wandb-double.jsonl of the folder `dir`.

Keyword arguments match the real one exactly. A run's name says how it misbehaves: "refused" does not begin,
"hangs" never answers a log, "chatty" prints.
"""

import json
import math
import os
import time


class Run:
    def __init__(self, file, name):
        self._file = file
        self._name = name
        self.summary = Summary(self)

    def _tell(self, what, value):
        with open(self._file, "a", encoding="utf-8") as file:
            file.write(json.dumps({what: value}) + "\n")

    def define_metric(self, name, step_metric=None):
        self._tell("define_metric", [name, step_metric])

    def log(self, data):
        if self._name == "hangs":
            time.sleep(3600)
        if self._name == "chatty":
            print('{"id": 1, "note": "not an answer"}')
        self._tell("log", {name: value if math.isfinite(value) else repr(value) for name, value in data.items()})

    def finish(self, exit_code=None):
        self._tell("finish", exit_code)


class Summary:
    def __init__(self, run):
        self._run = run

    def update(self, values):
        self._run._tell("summary", values)


def init(
    *,
    id=None,
    resume=None,
    project=None,
    entity=None,
    name=None,
    mode=None,
    dir=None,
    config=None,
    allow_val_change=None,
    job_type=None,
):
    if name == "refused":
        raise ValueError("No API key configured.")
    run = Run(os.path.join(dir, "wandb-double.jsonl"), name)
    given = dict(id=id, resume=resume, project=project, entity=entity, name=name, mode=mode, config=config)
    environment = {name: os.environ[name] for name in os.environ if "WANDB" in name or "SECRET" in name}
    run._tell("init", {**given, "job_type": job_type, "environment": environment})
    return run
