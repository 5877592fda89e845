"""Makes `tests/fixtures/conformance/trl.json`: TRL's own losses and advantages on one stored batch, for
`tests/unit/agent_rl/algorithms/trl-conformance.test.ts`.

    venv/bin/python scripts/conformance/make_trl.py

with the versions of tests/fixtures/hugging-face/requirements.txt. Real trainers compute the losses, see
`make_trl.py` there: only the run of the model is replaced, by stored log-probabilities.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
from datasets import Dataset

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures" / "hugging-face"))

import trl  # noqa: E402
from common import MODELS, load_model  # noqa: E402
from make_trl import GROUP, REWARDS, Stored, batch, tokenizer, trainer  # noqa: E402
from trl import RLOOConfig, RLOOTrainer  # noqa: E402

CAP = 1.1

# name: (loss_type, settings of the trainer, whether the ratio of generator and learner is corrected)
CASES = {
    "gspo": ("grpo", {"epsilon": 3e-4, "epsilon_high": 4e-4, "importance_sampling_level": "sequence"}, False),
    "cispo": ("cispo", {"epsilon_high": 1.1}, False),
    "dual clip": ("dapo", {"epsilon_high": 0.28, "delta": 1.35}, False),
    "dapo with tis": ("dapo", {"epsilon_high": 0.28}, True),
}


def make(loss_type, settings):
    level = settings.pop("importance_sampling_level", "token")
    made = trainer(Stored, loss_type, **settings)
    made.importance_sampling_level = level
    return made


def losses(stored):
    results = {}
    # Tokens were sampled by a policy of its own, and the update begins with `old`.
    factors = torch.exp(stored["old"] - stored["behaviour"])
    factors = torch.clamp(factors, max=CAP)  # as TRL's token_truncate has it
    for name, (loss_type, settings, corrected) in CASES.items():
        made = make(loss_type, dict(settings))
        made.current_gradient_accumulation_steps = 1
        made.model.train()
        made.use_vllm = corrected
        made.vllm_importance_sampling_correction = corrected
        given = stored["logProbs"].clone().requires_grad_()
        made.given = given
        rows, tokens = given.shape
        ids = torch.zeros(rows, tokens, dtype=torch.long)
        loss = made._compute_loss(
            made.model,
            {
                "prompt_ids": ids[:, :2],
                "prompt_mask": torch.ones(rows, 2, dtype=torch.long),
                "completion_ids": ids,
                "completion_mask": stored["mask"],
                "advantages": stored["advantages"],
                "old_per_token_logps": stored["old"],
                "importance_sampling_ratio": factors,
                "num_items_in_batch": stored["mask"].sum(),
                "sampling_per_token_logps": stored["behaviour"],
            },
        )
        loss.backward()
        results[name] = {"loss": loss.item(), "gradient": given.grad.tolist()}
    return results


def rloo():
    def reward(completions, **_):
        return [value for group in REWARDS for value in group]

    made = RLOOTrainer(
        model=load_model(MODELS / "llama"),
        reward_funcs=reward,
        args=RLOOConfig(
            output_dir=tempfile.mkdtemp(),
            per_device_train_batch_size=len(REWARDS) * GROUP,
            num_generations=GROUP,
            max_completion_length=16,
            beta=0.0,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            report_to=[],
        ),
        train_dataset=Dataset.from_dict({"prompt": ["w5 w6"] * 8}),
        processing_class=tokenizer(),
    )
    made.model.train()
    outputs = made._generate_and_score_completions([{"prompt": "w5 w6"}] * (len(REWARDS) * GROUP))
    return outputs["advantages"].view(-1, GROUP).tolist()


def main():
    stored = batch()
    noise = torch.randn(stored["old"].shape, generator=torch.Generator().manual_seed(5001))
    stored["behaviour"] = stored["old"] + 0.15 * noise
    result = {
        "versions": {"trl": trl.__version__, "torch": torch.__version__},
        "batch": {name: values.tolist() for name, values in stored.items()},
        "cap": CAP,
        "losses": losses(stored),
        "rewards": REWARDS,
        "rloo": rloo(),
    }
    path = ROOT / "tests" / "fixtures" / "conformance" / "trl.json"
    path.write_text(json.dumps(result) + "\n")


main()
