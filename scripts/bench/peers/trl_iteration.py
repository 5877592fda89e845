"""GRPO iterations of the code tasks by TRL, with the starter, tasks and settings of configs/code_exec_grpo.yaml.

    python trl_iteration.py '{"root": "/path/to/checkout", "iterations": 3, "threads": 2, "seed": 7}'

Prints one JSON object. Programs run inside this process, with a time limit and no isolation, so that they cost next to
nothing: what is compared is generation, training and what lies between. Do not train for long with it: what the model
writes is run here.
"""

import contextlib
import io
import json
import os
import re
import signal
import sys
import time

order = json.loads(sys.argv[1])
os.environ.update(TRL_EXPERIMENTAL_SILENCE="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false")

import torch

torch.set_num_threads(order["threads"])

import transformers
import trl
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_template

TASKS, GROUP, SEQUENCES = 24, 8, 16


class OutOfTime(Exception):
    pass


def out_of_time(*_):
    raise OutOfTime


signal.signal(signal.SIGALRM, out_of_time)


def run(code, stdin="", entry=None, args=None):
    """Output, value and error of a program, or of a function that it defines."""
    output, own_stdin = io.StringIO(), sys.stdin
    try:
        sys.stdin = io.StringIO(stdin)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        scope = {"__name__": "__main__"}
        with contextlib.redirect_stdout(output):
            exec(code, scope)
            value = scope[entry](*json.loads(json.dumps(args))) if entry else None
        return output.getvalue(), value, None
    except BaseException as error:
        return output.getvalue(), None, f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdin = own_stdin


class CodeEnvironment:
    def reset(self, **row):
        self.tests, self.code = json.loads(row["tests"]), None

    def code_exec(self, code: str) -> str:
        """Run a program.

        Args:
            code: The program.
        """
        self.code = code
        stdin = self.tests["cases"][0]["input"] if self.tests["kind"] == "stdin" else ""
        output, _, error = run(code, stdin)
        return (output.rstrip("\n") + (f"\n{error}" if error else ""))[:400]

    def _solved(self):
        if self.code is None:
            return 0.0
        for case in self.tests["cases"]:
            if self.tests["kind"] == "stdin":
                output, _, error = run(self.code, case["input"])
                right = output.split() == case["output"].split()
            else:
                _, value, error = run(self.code, entry=self.tests["entry"], args=case["args"])
                right = value == case["expected"]
            if error or not right:
                return 0.0
        return 1.0


def reward(completions, environments=None, **_):
    return [environment._solved() for environment in environments]


def rows(count):
    with open(os.path.join(order["root"], "dataset/code_tasks/train.jsonl")) as file:
        tasks = [json.loads(line) for line in file]
    for place in range(count):
        task = tasks[place % len(tasks)]
        prompt = [{"role": "user", "content": task["prompt"]}]
        yield {"prompt": prompt, "tests": json.dumps(task["tests"])}


starter = os.path.join(order["root"], "model/starter")
tokenizer = AutoTokenizer.from_pretrained(starter)
tokenizer.response_template = qwen3_template
tokenizer.padding_side = "left"
model = AutoModelForCausalLM.from_pretrained(starter, dtype=torch.float32, attn_implementation="sdpa")
config = GRPOConfig(
    output_dir=order["folder"],
    use_cpu=True,
    bf16=False,
    fp16=False,
    gradient_checkpointing=False,
    per_device_train_batch_size=SEQUENCES,
    gradient_accumulation_steps=TASKS * GROUP // SEQUENCES,
    num_generations=GROUP,
    max_completion_length=366,
    max_steps=order["iterations"],
    learning_rate=2.5e-4,
    lr_scheduler_type="constant",
    adam_beta2=0.99,
    max_grad_norm=1.0,
    temperature=1.0,
    beta=0.0,
    epsilon=0.2,
    epsilon_high=0.28,
    loss_type="dapo",
    scale_rewards="group",
    max_tool_calling_iterations=3,
    generation_kwargs={"max_new_tokens": 128},
    shuffle_dataset=False,
    report_to=[],
    logging_steps=1,
    save_strategy="no",
    seed=order["seed"],
    optim="adamw_torch_fused",
    disable_dropout=True,
    dataloader_num_workers=0,
    dataloader_pin_memory=False,
)
sampled = 0
marks = []


def mark(reward_mean=None):
    marks.append(
        {"wall": time.perf_counter(), "cpu": time.process_time(), "sampled": sampled, "reward": reward_mean}
    )


class Marks(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **_):
        if logs is not None and "reward" in logs:
            mark(logs["reward"])


data = Dataset.from_list(list(rows(TASKS * (order["iterations"] + 1))))
trainer = GRPOTrainer(
    model=model,
    reward_funcs=reward,
    args=config,
    train_dataset=data,
    processing_class=tokenizer,
    environment_factory=CodeEnvironment,
    callbacks=[Marks()],
)
generate = trainer._generate


def counted(prompts):
    global sampled
    made = generate(prompts)
    completions, masks = made[1], made[2]
    sampled += sum(map(sum, masks)) if masks is not None else sum(map(len, completions))
    return made


trainer._generate = counted
mark()
with contextlib.redirect_stdout(sys.stderr):
    trainer.train()
with open("/proc/self/status") as file:
    peak = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) * 1024
iterations = [
    {
        "wallS": after["wall"] - before["wall"],
        "cpuS": after["cpu"] - before["cpu"],
        "sampledTokens": after["sampled"] - before["sampled"],
        "reward": after["reward"],
    }
    for before, after in zip(marks, marks[1:])
]
version = f"TRL {trl.__version__}, transformers {transformers.__version__}, PyTorch {torch.__version__}"
print(json.dumps({"version": version, "iterations": iterations, "peakBytes": peak}))
