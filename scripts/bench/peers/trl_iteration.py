"""GRPO iterations of a job by TRL, with the model, tasks and settings of peer-job.ts, which writes the order.

    python trl_iteration.py '{"environment": "calculator", "model": "/path", "rows": [...], "iterations": 3, ...}'

Prints one JSON object. Tools run inside this process, with a time limit and no isolation, so that they cost next to
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
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import llama3_template, qwen3_template

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
    def reset(self, answer, **_):
        self.tests, self.code = json.loads(answer), None

    def code_exec(self, code: str) -> str:
        """Run a program.

        Args:
            code: The program.
        """
        self.code = code
        stdin = self.tests["cases"][0]["input"] if self.tests["kind"] == "stdin" else ""
        output, _, error = run(code, stdin)
        return (output.rstrip("\n") + (f"\n{error}" if error else ""))[:400]

    def _solved(self, completion):
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


class CalculatorEnvironment:
    def reset(self, answer, **_):
        self.answer = answer

    def calculator(self, expression: str) -> str:
        """Evaluate a mathematical expression.

        Args:
            expression: Such as (3 + 4) * 2 or sqrt(2) ^ 3
        """
        if not re.fullmatch(r"[-+*/(). 0-9]+", expression):
            return "Error: this is not an expression"
        _, value, error = run(f"def value():\n    return {expression}", entry="value", args=[])
        return f"Error: {error}" if error else str(value)

    def _solved(self, completion):
        last = completion[-1]
        said = last.get("content") or ""
        numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?", said) if last["role"] == "assistant" else []
        return float(bool(numbers) and numbers[-1].replace(",", "") == self.answer)


def reward(completions, environments=None, **_):
    return [one._solved(said) for one, said in zip(environments, completions)]


def rows():
    system = order.get("system")
    before = [{"role": "system", "content": system}] if system else []
    for row in order["rows"]:
        yield {"prompt": before + [{"role": "user", "content": row["prompt"]}], "answer": row["answer"]}


def in_chatml(template):
    """Llama's calls, which are JSON without a mark around it, between the tokens of SmolLM2."""
    text = json.dumps(template).replace("<|start_header_id|>assistant<|end_header_id|>\\n\\n", "<|im_start|>assistant\\n")
    if text.count("<|im_start|>") != 1 or "eot_id" not in text:
        sys.exit("TRL's template of Llama's answers is another one than this script knows.")
    return json.loads(text.replace("eot_id", "im_end"))


calculator = order["environment"] == "calculator"
tokenizer = AutoTokenizer.from_pretrained(order["model"])
tokenizer.response_template = in_chatml(llama3_template) if calculator else qwen3_template
tokenizer.padding_side = "left"
model = AutoModelForCausalLM.from_pretrained(order["model"], dtype=torch.float32, attn_implementation="sdpa")
tasks, group, sequences = order["tasks"], order["group"], order["sequences"]
lora = order["lora"]
config = GRPOConfig(
    output_dir=order["folder"],
    use_cpu=True,
    bf16=False,
    fp16=False,
    gradient_checkpointing=False,
    per_device_train_batch_size=sequences,
    gradient_accumulation_steps=tasks * group // sequences,
    num_generations=group,
    max_completion_length=order["completionTokens"],
    max_steps=order["iterations"],
    learning_rate=order["learningRate"],
    lr_scheduler_type="constant",
    adam_beta2=order["beta2"],
    max_grad_norm=1.0,
    temperature=1.0,
    beta=0.0,
    epsilon=0.2,
    epsilon_high=order["clipHigh"],
    loss_type="dapo",
    scale_rewards="group",
    max_tool_calling_iterations=order["turns"] - 1,
    generation_kwargs={"max_new_tokens": order["turnTokens"]},
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


def mark(**measured):
    marks.append({"wall": time.perf_counter(), "cpu": time.process_time(), "sampled": sampled, **measured})


class Marks(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **_):
        if logs is not None and "reward" in logs:
            mark(reward=logs["reward"], entropy=logs["entropy"])


trainer = GRPOTrainer(
    model=model,
    reward_funcs=reward,
    args=config,
    train_dataset=Dataset.from_list(list(rows())),
    processing_class=tokenizer,
    environment_factory=CalculatorEnvironment if calculator else CodeEnvironment,
    peft_config=lora and LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules="all-linear"),
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
        "entropy": after["entropy"],
    }
    for before, after in zip(marks, marks[1:])
]
version = f"TRL {trl.__version__}, transformers {transformers.__version__}, PyTorch {torch.__version__}"
print(json.dumps({"version": version, "iterations": iterations, "peakBytes": peak}))
