/** What an error code stands for. */
export interface ErrorDefinition {
  /** Whose doing it is: the user's, the system's (machine, network, a plugin at work), or a bug of the code. */
  cause: 'user' | 'system' | 'bug';
  /** When it is thrown. */
  meaning: string;
  /** What to do about it. */
  remedy: string;
}

/** Every code of an `AgentRlError`. Codes are stable; messages may change. */
export const errorCatalogue = {
  CONFIG_INVALID: {
    cause: 'user',
    meaning:
      'YAML that cannot be read, an unknown setting, a wrong value, or settings that contradict one another',
    remedy: 'Each line of the message names the place, the value and what is allowed',
  },
  DATASET_INVALID: {
    cause: 'user',
    meaning:
      'A split or another JSONL file is missing, empty, not UTF-8, or has a line that is not as expected',
    remedy: 'The message names the file and the line; `agent-rl verify-dataset` checks them all',
  },
  DEVICE_UNAVAILABLE: {
    cause: 'user',
    meaning: '`--device` names a device that this machine or installation does not have',
    remedy: '`agent-rl doctor` lists those it has',
  },
  MODEL_INVALID: {
    cause: 'user',
    meaning: 'Weights or config.json are missing, truncated, or of another shape than expected',
    remedy: 'Check the model folder; the message names the tensor or the file',
  },
  TOKENIZER_INVALID: {
    cause: 'user',
    meaning: 'The tokenizer or the chat template is missing or does not fit the weights',
    remedy: 'Use the tokenizer that the weights were made with',
  },
  CHECKPOINT_INVALID: {
    cause: 'user',
    meaning:
      'There is no whole checkpoint to resume from, its hashes disagree, or the seed, tasks or starting weights are not those of `inputs.json`',
    remedy: 'Resume from another checkpoint, or start a new run',
  },
  OUTPUT_UNWRITABLE: {
    cause: 'user',
    meaning:
      'The run folder exists already, cannot be written, is in use by another process (`run.lock`), or the disk is full',
    remedy:
      'Choose another `run.outputDir` or `run.name`; after a full disk free space, then `--resume`',
  },
  PLUGIN_UNKNOWN: {
    cause: 'user',
    meaning: 'A `type` that no plugin has',
    remedy:
      'The message lists the known ones; name the file or package of the plugin under `plugins:`',
  },
  PLUGIN_DUPLICATE: {
    cause: 'user',
    meaning: 'Two plugins of one kind have the same name',
    remedy: 'Rename one; the message names both places',
  },
  PLUGIN_UNMARKED: {
    cause: 'user',
    meaning: 'A class is listed as a plugin and has no plugin decorator',
    remedy: 'Add `@tool`, `@environment`, `@policy`, `@toolCallFormat` or `reward(…)`',
  },
  PLUGIN_LOAD_FAILED: {
    cause: 'user',
    meaning:
      'A plugin cannot be found, throws when it is imported, never finishes loading, exports no plugin, or breaks the rules for plugins',
    remedy: 'The message names the file and the cause',
  },
  SANDBOX_UNAVAILABLE: {
    cause: 'user',
    meaning: 'This machine has no sandbox of the kind that was asked for, or it does not hold',
    remedy: '`agent-rl sandbox doctor` says what is missing; for a remote server the message does',
  },
  CORPUS_INVALID: {
    cause: 'user',
    meaning: 'A corpus index is missing, incomplete or damaged',
    remedy: 'Build it with `agent-rl index`; `--rebuild` replaces a damaged one',
  },
  CORPUS_MISMATCH: {
    cause: 'user',
    meaning:
      'A corpus index was built from other input, by another version, or with another embedder',
    remedy: 'Use the settings it was built with, or `agent-rl index --rebuild`',
  },
  EMBEDDER_UNAVAILABLE: {
    cause: 'user',
    meaning: 'The package, the files or the key of an embedder are missing',
    remedy: 'The message names them; `dense: none` searches by words alone',
  },
  EMBEDDING_FAILED: {
    cause: 'system',
    meaning: 'An embedder or its server failed or gave no usable vectors',
    remedy: 'The message names the cause',
  },
  WEB_REQUEST_FAILED: {
    cause: 'system',
    meaning: 'A page or a search provider did not answer as it should, in time, or at all',
    remedy: 'The model is told and the episode goes on; `kind` in the message names the cause',
  },
  WEB_REQUEST_DENIED: {
    cause: 'user',
    meaning: 'A search provider refuses the key, the plan, or the request itself',
    remedy: 'Check the key and the account; the message names the status',
  },
  WEB_BUDGET_SPENT: {
    cause: 'user',
    meaning: 'The `budget` of a web tool allows no further call',
    remedy: 'Raise it, then `--resume`; what was recorded costs nothing again',
  },
  CASSETTE_MISS: {
    cause: 'user',
    meaning: '`mode: replay`, and nothing was recorded for this request',
    remedy: 'Record it with `mode: record`, or replay with the settings of the recording',
  },
  CASSETTE_INVALID: {
    cause: 'user',
    meaning: 'A cassette cannot be read or written, or has a line that is not a recording',
    remedy: 'The message names the file and the line',
  },
  SOURCE_UNAVAILABLE: {
    cause: 'system',
    meaning: 'The Hugging Face hub does not provide a dataset or a model',
    remedy:
      'Check the name, `HF_TOKEN` and the connection; what is in the cache is not fetched again',
  },
  SHAPE_MISMATCH: {
    cause: 'bug',
    meaning: 'Tensors or lists whose sizes must agree do not',
    remedy: 'Report it, with the message',
  },
  NOT_TRACEABLE: {
    cause: 'bug',
    meaning: 'Model code does what a traced program cannot hold, such as reading a value',
    remedy: 'Write it with the operations of `agent_rl/engine/ops.ts`',
  },
  ENGINE_FAILED: {
    cause: 'system',
    meaning: 'The numerical engine failed or ran out of memory',
    remedy: 'Lower `algorithm.microBatchTokens` or `rollout.workers`',
  },
  GENERATION_FAILED: {
    cause: 'system',
    meaning: 'The generator failed while sampling',
    remedy: 'The message names the cause; `--resume` resumes the run',
  },
  ROLLOUTS_FAILED: {
    cause: 'system',
    meaning:
      'No episode of an iteration or an evaluation has a reward: the system failed in all of them',
    remedy: 'The message names the cause of the first; fix it, then `--resume`',
  },
  PARITY_BROKEN: {
    cause: 'system',
    meaning: 'Generator and learner disagree by more than `train.parityBound`',
    remedy: 'Do not train on; report it, with the run folder',
  },
  INTERRUPTED: {
    cause: 'user',
    meaning: 'Ctrl-C or SIGTERM',
    remedy: '`--resume` resumes from the last checkpoint',
  },
} as const satisfies Readonly<Record<string, ErrorDefinition>>;

export type ErrorCode = keyof typeof errorCatalogue;
