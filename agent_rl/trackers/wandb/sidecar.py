"""Tells Weights & Biases of a run, by its own SDK: requests as lines of JSON on stdin, an answer each on stdout.

A request has an id; its answer has that id and either a note, which may be null, or an error. The end of stdin ends the
run in W&B, also where the writing process was killed.
"""

import json
import os
import secrets
import signal
import sys
import threading

# Seconds for the last uploads once stdin has closed.
LAST_SECONDS = 600


class Sidecar:
    def __init__(self, wandb):
        self.wandb = wandb
        self.run = None
        self.exit_code = 1
        self.state_file = None
        # The id of the run in W&B and, of each metric, the last step that was logged.
        self.state = {"id": None, "steps": {}}

    def start(self, request):
        if isinstance(self.wandb, Exception):
            raise self.wandb
        self.state_file = request["state"]
        if os.path.exists(self.state_file):
            with open(self.state_file, encoding="utf-8") as file:
                self.state = json.load(file)
        else:
            # Kept before the run is made: a crash in between still leads back to it.
            self.state["id"] = secrets.token_hex(4)
            self.keep()
        os.makedirs(request["dir"], exist_ok=True)
        self.run = self.wandb.init(
            id=self.state["id"],
            resume="allow",
            project=request["project"],
            entity=request.get("entity"),
            name=request["name"],
            mode=request["mode"],
            dir=request["dir"],
            config=request["config"],
            allow_val_change=True,
            job_type=request["job_type"],
        )
        self.run.define_metric("iteration")
        self.run.define_metric("*", step_metric="iteration")
        last = max(self.state["steps"].values(), default=-1)
        if last > request["from"]:
            return (
                f"W&B keeps the first logged metrics up to iteration {last}, although the run repeats iterations from"
                f" {request['from'] + 1} on"
            )
        return None

    def log(self, request):
        step = request["step"]
        steps = self.state["steps"]
        # JSON has no NaN and no infinities: they come as words.
        fresh = {name: float(value) for name, value in request["metrics"] if steps.get(name, -1) < step}
        if not fresh:
            return None
        self.opened().log({**fresh, "iteration": step})
        steps.update(dict.fromkeys(fresh, step))
        self.keep()
        return None

    def summary(self, request):
        self.opened().summary.update(request["values"])

    def end(self, request):
        self.opened()
        self.exit_code = request["exit_code"]

    def opened(self):
        if self.run is not None:
            return self.run
        raise RuntimeError("the run could not be started in W&B")

    def keep(self):
        os.makedirs(os.path.dirname(self.state_file), exist_ok=True)
        partial = f"{self.state_file}.{os.getpid()}.partial"
        with open(partial, "w", encoding="utf-8") as file:
            json.dump(self.state, file)
        os.replace(partial, self.state_file)

    def answer(self, request):
        known = {"start": self.start, "log": self.log, "summary": self.summary, "end": self.end}
        try:
            return {"id": request["id"], "note": known[request["do"]](request)}
        except Exception as error:
            return {"id": request["id"], "error": f"{type(error).__name__}: {error}"}


def load():
    """The SDK, which takes seconds, or why it cannot be had."""
    try:
        import wandb

        return wandb
    except Exception as error:
        return error


def main():
    # Ctrl-C is for the run, which then says how it ended.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever else is printed here must not look like an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sidecar = Sidecar(load())
    for line in sys.stdin:
        try:
            print(json.dumps(sidecar.answer(json.loads(line))), file=answers, flush=True)
        except BrokenPipeError:
            break
    late = threading.Timer(LAST_SECONDS, os._exit, [1])
    late.daemon = True
    late.start()
    if sidecar.run is not None:
        sidecar.run.finish(exit_code=sidecar.exit_code)


if __name__ == "__main__":
    main()
