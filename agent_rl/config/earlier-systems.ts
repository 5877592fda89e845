/** What an earlier system has, its keys in backticks, and what we have instead; both are Markdown. */
type Row = readonly [theirs: string, ours: string];

export interface EarlierSystem {
  name: string;
  /** Where its settings are. */
  about: string;
  rows: readonly Row[];
}

/** Of flags that we have under the same names. */
export const sameFlags = 'the same flags';

/** Every setting of the four systems that this project re-implements. "Dead" settings were read by them and not used. */
export const earlierSystems: readonly EarlierSystem[] = [
  {
    name: 'Multi-turn-RL',
    about: 'System 001, `config.yaml`',
    rows: [
      ['`model.name`', '`model.path`'],
      ['`model.max_length`', '`policy.maxContextTokens` and `rollout.maxEpisodeTokens`'],
      ['`model.dtype`', 'not carried over, because weights are float32 once loaded'],
      ['`model.lora_r`', '`model.lora.rank`'],
      ['`model.lora_alpha`', '`model.lora.alpha`'],
      ['`data`', '`datasets` and `dataset`'],
      ['`data.dataset`', '`datasets[].dir` and `datasets[].format`'],
      [
        '`data.max_samples`',
        '`dataset.maxSamples`; the seed chooses the rows, instead of the first rows of the file',
      ],
      ['`data.split`', '`dataset.trainSplit`'],
      ['`generation`', '`policy`'],
      ['`generation.max_tool_rounds`', '`rollout.maxTurns`'],
      ['`generation.max_new_tokens`', '`policy.maxTurnTokens`'],
      [
        '`generation.temperature`',
        '`policy.sampling.temperature`; 0 is greedy, which training refuses',
      ],
      ['`generation.enable_thinking` (dead)', '`policy.thinking`'],
      ['`training`', '`train`'],
      ['`training.lr`', '`train.learningRate`'],
      ['`training.batch_size`', '`rollout.tasksPerStep`'],
      ['`training.group_size`', '`rollout.groupSize`'],
      ['`training.num_iterations`', '`train.iterations`'],
      ['`training.kl_coef`', '`algorithm.kl.weight` with `algorithm.kl.kind`'],
      ['`training.max_turns` (dead)', '`rollout.maxTurns`'],
      ['`training.max_grad_norm` (dead)', '`train.maxGradNorm`'],
      ['`rewards.success` (dead)', '`environment.successReward`'],
      [
        '`rewards.failure` (dead)',
        "not carried over: a failure has reward 0, and subtracting the group's mean makes its advantage negative",
      ],
      ['`rewards.turn_penalty` (dead)', 'the reward `brevity` in `rewards`'],
      ['`wandb`', '`trackers` with the type `wandb`'],
      ['`output_dir`', '`run.outputDir` and `run.name`'],
    ],
  },
  {
    name: 'OpenReinforcedAgent',
    about: 'System 002; most of its settings are constants in its sources',
    rows: [
      ['base model', '`model.path`'],
      [
        'LoRA rank, alpha, dropout, targets',
        '`model.lora.rank`, `model.lora.alpha`, `model.lora.dropout`, `model.lora.targets`',
      ],
      ['4-bit quantisation', '`model.quantize`'],
      ['`max_steps`', '`train.iterations`'],
      ['`learning_rate`, optimiser', '`train.learningRate`; the optimiser is always AdamW'],
      ['schedule', '`train.schedule`'],
      ['`warmup_ratio`', '`train.warmupSteps`, in steps, not a share'],
      ['`weight_decay`', '`train.weightDecay`'],
      ['`batch_size` (questions)', '`rollout.tasksPerStep`'],
      ['`num_rollouts`', '`rollout.groupSize`'],
      ['`beta`', '`algorithm.kl.weight`, with `algorithm.kl.kind` `k3`'],
      ['epsilon (dead)', '`algorithm.loss.clipLow`, `algorithm.loss.clipHigh`'],
      ['`num_devices`', '`run.device`, one device'],
      ['`eval_steps`', '`eval.every`'],
      ['`save_steps`', '`checkpoint.every`'],
      ['`max_length`', '`policy.maxContextTokens`'],
      [
        'retrieved chunks, chunk size',
        '`topK` of the tool `search`; `--chunk-tokens` of `data prepare`, `chunking.tokens` of `data index`',
      ],
      [
        'reward weights, ways to combine rewards',
        '`rewards[].weight`, and `rewardManager.type`: weighted, uniform, std, pca, l2, normalised',
      ],
      ['loop iterations', '`rollout.maxTurns`'],
      ['`pad_token_id`', 'not carried over, because padding is masked and needs no token'],
      ['`--dataset`', '`--dataset-dir`'],
      ['`--num_rollouts`', '`--set rollout.groupSize=N`'],
      [
        "`--vllm_port` and the server's flags",
        '`generator.type: vllm`, with the servers in its `urls`',
      ],
      [
        '`--dataset-path` with reference log-probabilities',
        '`algorithm.kl.reference`: a run computes the log-probabilities of its reference itself',
      ],
      ['`--dataset-paths`', '`--dataset-dir`'],
      ['`--checkpoint-path`', '`--resume`'],
      ['`--max-steps`', '`--max-iterations`'],
      [
        '`--model`, `--model-path`, `--device`; `--base-model`, `--lora-model` and `--output-path` when merging',
        sameFlags,
      ],
    ],
  },
  {
    name: 'ToolGRPO',
    about: 'System 003; its settings are constants in one script',
    rows: [
      ['base model', '`model.path`'],
      ['`max_seq_length`', '`policy.maxContextTokens`'],
      [
        '`fast_inference`',
        '`generator.type: vllm`; the default generates in the process of the run',
      ],
      [
        '`gpu_memory_utilization`',
        'not carried over, because it is a flag of the vLLM server, which a run does not start',
      ],
      ['LoRA, gradient checkpointing', '`model.lora.rank`, `train.recompute`'],
      ['seed', '`run.seed`'],
      ['`max_prompt_length`', '`rollout.maxEpisodeTokens`; nothing is cut silently'],
      ['`max_completion_length`', '`policy.maxTurnTokens`'],
      ['`per_device_train_batch_size`', '`rollout.tasksPerStep`'],
      ['`gradient_accumulation_steps`', '`algorithm.microBatchTokens`'],
      ['`num_generations`', '`rollout.groupSize`'],
      [
        '`num_train_epochs`',
        '`train.iterations`; passes over one collection are `algorithm.epochs`',
      ],
      ['learning rate, weight decay', '`train.learningRate`, `train.weightDecay`'],
      ['warm-up', '`train.warmupSteps`'],
      ['`max_grad_norm`', '`train.maxGradNorm`'],
      ['save and eval every', '`checkpoint.every`, `eval.every`'],
      ['`eval_on_start`', '`eval.before`'],
      ['`report_to`', '`trackers`: `tensorboard`, `mlflow`, `wandb`'],
      ['beta, temperature', '`algorithm.kl.weight`, `policy.sampling.temperature`'],
      [
        'rewards structure, int, correctness, python',
        "the environment's own reward; others as plugins under `rewards`",
      ],
    ],
  },
  {
    name: 'Miniagent',
    about: 'System 004, `code_exec_grpo.yaml` and `search_qa_grpo.yaml`',
    rows: [
      ['`model.name` (dead)', '`model.path`'],
      ['`model.dtype`', 'not carried over, because weights are float32 once loaded'],
      ['`policy.max_new_tokens`', '`policy.maxTurnTokens`'],
      ['`policy.temperature`', '`policy.sampling.temperature`'],
      ['`policy.top_p`', '`policy.sampling.topP`'],
      ['`policy.do_sample`', '`policy.sampling.temperature`, 0 for the likeliest token'],
      ['`env`', '`environment`'],
      ['`env.type` (dead)', '`environment.type`'],
      ['`env.max_turns`', '`rollout.maxTurns`'],
      ['`env.system_prompt`', '`environment.systemPrompt`'],
      ['`env.success_reward`', '`environment.successReward`'],
      [
        '`env.timeout_penalty`',
        '`environment.timeoutPenalty` (a call) and `environment.turnLimitPenalty` (turns), as positive numbers',
      ],
      ['`env.test_timeout`', '`environment.judgeWallS`'],
      ['`tools.code_exec.python_executable`', '`sandbox.python`'],
      [
        '`tools.code_exec.workdir`',
        'not carried over, because programs in the sandbox see no folder of the machine',
      ],
      ['`tools.search.mode`', '`mode` of the tool `search`'],
      ['`tools.search.provider`', '`web.provider` of the tool `search`'],
      [
        '`tools.search.api_key`, `tools.search.api_key_env`',
        '`web.apiKeyEnv` of the tool `search`',
      ],
      ['`tools.search.endpoint`', '`web.endpoint` of the tool `search`'],
      ['`tools.search.default_params`', '`web.defaultParams` of the tool `search`'],
      ['`tools.search.timeout`', '`web.timeoutS` of the tool `search`'],
      ['`tools.search.max_retries`', '`web.maxRetries` of the tool `search`'],
      ['`tools.search.backoff_factor`', '`web.backoffFactor` of the tool `search`'],
      ['`tools.search.rate_limit_per_min`', '`web.rateLimitPerMin` of the tool `search`'],
      ['`tools.search.max_snippet_chars`', '`maxSnippetChars` of the tool `search`'],
      ['`tools.search.corpus`', '`corpus` of the tool `search`'],
      ['`rollout.num_episodes_per_iter`', '`rollout.tasksPerStep` times `rollout.groupSize`'],
      ['`train.num_iters`', '`train.iterations`'],
      ['`train.lr`', '`train.learningRate`'],
      ['`train.grad_clip`', '`train.maxGradNorm`'],
      ['`eval.eval_interval` (dead)', '`eval.every`'],
      ['`eval.num_tasks` (dead)', '`eval.maxTasks`'],
      ['`train.norm_adv_by_std`', '`algorithm.advantage.std`'],
      [
        '`train.gamma`, `train.lam`, `train.value_coef` (dead)',
        'not carried over, because there is no value function',
      ],
      ['`train.entropy_coef` (dead)', '`algorithm.entropyBonus`'],
      [
        '`--config`, `--dataset-dir`, `--train-split`, `--eval-split`, `--seed`, `--model-path`, `--device`, `--policy-type`, `--hf-model-name`, `--preview-tasks`, `--async-rollout-workers`',
        sameFlags,
      ],
    ],
  },
];
