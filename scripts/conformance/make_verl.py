"""Makes `tests/fixtures/conformance/verl.json`: veRL's own losses, advantages and KL penalty on the batch of `trl.json`,
for `tests/unit/agent_rl/algorithms/verl-conformance.test.ts`.

    venv/bin/python scripts/conformance/make_verl.py

with torch 2.15.0 and `pip install --no-deps verl==0.9.1` (and what its `core_algos` imports: ray, protobuf, msgpack,
requests, urllib3, certifi, jsonschema, attrs, referencing, rpds-py, jsonschema-specifications, tensordict, pyvers,
cloudpickle, omegaconf, codetiming, orjson). Nothing runs on a GPU or starts a worker.
"""

import ast
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from verl import DataProto
from verl import __version__ as version
from verl.trainer import ppo
from verl.trainer.ppo import core_algos
from verl.utils.torch_functional import masked_mean
from verl.workers.config import ActorConfig

HERE = Path(__file__).parents[2] / "tests" / "fixtures" / "conformance"
STORED = json.loads((HERE / "trl.json").read_text())
BATCH = {name: torch.tensor(values, dtype=torch.float32) for name, values in STORED["batch"].items()}
MASK = BATCH["mask"]
CAP = STORED["cap"]
HORIZON = 16
NO_DUAL_CLIP = 1e9

# One group of four, as the batch has sequences.
REWARDS = [1.0, 0.0, 0.5, 1.0]
BETA = 0.2

# name: (policy loss, clip low, clip high, dual clip, aggregation, corrected)
CASES = {
    "gspo": ("gspo", 3e-4, 4e-4, NO_DUAL_CLIP, "seq-mean-token-mean", False),
    "cispo": ("cispo", 1.0, 0.1, NO_DUAL_CLIP, "token-mean", False),
    "dual clip": ("vanilla", 0.2, 0.28, 1.35, "token-mean", False),
    "dapo with tis": ("vanilla", 0.2, 0.28, NO_DUAL_CLIP, "token-mean", True),
    "grpo, sequence-mean": ("vanilla", 0.2, 0.2, NO_DUAL_CLIP, "seq-mean-token-mean", False),
    "dr-grpo, constant": ("vanilla", 0.2, 0.28, NO_DUAL_CLIP, "seq-mean-token-sum-norm", False),
}


def config(low, high, dual):
    made = ActorConfig(
        strategy="fsdp",
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        clip_ratio=low,
        clip_ratio_low=low,
        clip_ratio_high=high,
        clip_ratio_c=dual,
    )
    made.global_batch_info["loss_scale_factor"] = HORIZON
    return made


def losses():
    results = {}
    factors = torch.clamp(torch.exp(BATCH["old"] - BATCH["behaviour"]), max=CAP)
    advantages = BATCH["advantages"].unsqueeze(-1) * torch.ones_like(MASK)
    for name, (kind, low, high, dual, aggregation, corrected) in CASES.items():
        given = BATCH["logProbs"].clone().requires_grad_()
        loss, _ = core_algos.get_policy_loss_fn(kind)(
            old_log_prob=BATCH["old"],
            log_prob=given,
            advantages=advantages,
            response_mask=MASK,
            loss_agg_mode=aggregation,
            config=config(low, high, dual),
            rollout_is_weights=factors if corrected else None,
        )
        loss.backward()
        results[name] = {"loss": loss.item(), "gradient": given.grad.tolist()}
    return results


def apply_kl_penalty():
    """veRL's function, out of a module whose other imports start servers."""
    source = (Path(ppo.__path__[0]) / "ray_trainer.py").read_text()
    found = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "apply_kl_penalty"
    )
    names = {"torch": torch, "core_algos": core_algos, "masked_mean": masked_mean, "DataProto": DataProto}
    exec(compile(ast.Module([found], []), "ray_trainer.py", "exec"), names)
    return names["apply_kl_penalty"]


def rewards_with_kl():
    results = {}
    scores = torch.zeros_like(MASK)
    for row, reward in enumerate(REWARDS):
        scores[row, int(MASK[row].nonzero().max())] = reward
    group = np.zeros(len(REWARDS), dtype=int)
    for kind in ["k1", "k2", "k3"]:
        data = DataProto.from_single_dict(
            {
                "response_mask": MASK,
                "token_level_scores": scores,
                "old_log_probs": BATCH["old"],
                "ref_log_prob": BATCH["reference"],
            }
        )
        controller = core_algos.FixedKLController(kl_coef=BETA)
        shaped, metrics = apply_kl_penalty()(data, kl_ctrl=controller, kl_penalty=kind)
        tokens = shaped.batch["token_level_rewards"]
        first = MASK.argmax(dim=-1)

        def of(estimator, **settings):
            values, _ = core_algos.get_adv_estimator_fn(estimator)(
                token_level_rewards=tokens.clone(),
                response_mask=MASK,
                index=group,
                config=SimpleNamespace(gamma=1.0),
                **settings,
            )
            return values[torch.arange(len(REWARDS)), first].tolist()

        results[kind] = {
            "rewards": tokens.sum(-1).tolist(),
            "klMean": metrics["actor/reward_kl_penalty"],
            "grpo": of("grpo", norm_adv_by_std_in_grpo=True),
            "drGrpo": of("grpo", norm_adv_by_std_in_grpo=False),
            "rloo": of("rloo"),
        }
    return results


def main():
    result = {
        "versions": {"verl": version, "torch": torch.__version__},
        "horizon": HORIZON,
        "losses": losses(),
        "rewards": REWARDS,
        "beta": BETA,
        "klInReward": rewards_with_kl(),
    }
    (HERE / "verl.json").write_text(json.dumps(result) + "\n")


main()
