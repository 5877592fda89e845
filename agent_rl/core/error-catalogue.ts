/** What an error code stands for. */
export interface ErrorDefinition {
  /** Whose doing it is: the user's, the system's (machine, network, a plugin at work), or a bug of the code. */
  cause: 'user' | 'system' | 'bug';
  /** When it is thrown. */
  meaning: string;
  /** What to do about it. */
  remedy: string;
}

const causedBy =
  (cause: ErrorDefinition['cause']) =>
  (meaning: string, remedy: string): ErrorDefinition => ({ cause, meaning, remedy });

const user = causedBy('user');
const system = causedBy('system');
const bug = causedBy('bug');

/** Every code of an `AgentRlError`, when it is thrown and what to do. Codes are stable; messages may change. */
export const errorCatalogue = {
  CONFIG_INVALID: user(
    'YAML that cannot be read, an unknown setting, a wrong value, or settings that contradict one another',
    'Each line of the message names the place, the value and what is allowed',
  ),
  DATASET_INVALID: user(
    'A split or another JSONL file is missing, empty, not UTF-8, or has a line that is not as expected',
    'The message names the file and the line; `agent-rl data verify` checks them all',
  ),
  DEVICE_UNAVAILABLE: user(
    '`--device` names a device that this machine or installation does not have',
    '`agent-rl doctor` lists those it has',
  ),
  MODEL_INVALID: user(
    'Weights or config.json are missing, truncated, or of another shape than expected',
    'Check the model folder; the message names the tensor or the file',
  ),
  TOKENIZER_INVALID: user(
    'The tokenizer or the chat template is missing or does not fit the weights',
    'Use the tokenizer that the weights were made with',
  ),
  CHECKPOINT_INVALID: user(
    'There is no intact checkpoint to resume from, its hashes disagree, a line of the records cannot be read, or seed, tasks, starting weights, device or engine threads are not those of `inputs.json`',
    'The message says what differs or which line it is; resume with what the run began with, or start a new run',
  ),
  OUTPUT_UNWRITABLE: user(
    'The run folder exists already, cannot be written, is in use or was taken by another process (`run.lock`), or the disk is full',
    'Choose another `run.outputDir` or `run.name`; after a full disk free space, then `--resume`',
  ),
  PAGE_MISSING: user(
    'The page of `agent-rl view` is not where the package is built',
    '`npm run build` in a checkout; install the package again elsewhere',
  ),
  PLUGIN_UNKNOWN: user(
    'A `type` that no plugin has',
    'The message lists the known ones; name the file or package of the plugin under `plugins:`. For a plugin that a program gave, it says what to call',
  ),
  PLUGIN_DUPLICATE: user(
    'Two plugins of one kind have the same name',
    'Rename one; the message names both places',
  ),
  PLUGIN_UNMARKED: user(
    'A class is listed as a plugin and has no plugin decorator',
    'Add `@tool`, `@environment`, `@policy`, `@toolCallFormat` or `reward(…)`',
  ),
  PLUGIN_LOAD_FAILED: user(
    'A plugin cannot be found, throws when it is imported, never finishes loading, exports no plugin, breaks the rules for plugins, or lacks a program that it needs',
    'The message names the file and the cause',
  ),
  ROLLOUTS_MIXED: user(
    'An agent asked the model in the name of another rollout, such as from a queue that rollouts share',
    'Use the `fetch` that the agent is given, or `AsyncResource.bind` for what the queue runs',
  ),
  SANDBOX_UNAVAILABLE: user(
    'This machine does not have the chosen kind of sandbox, or its isolation does not hold',
    '`agent-rl sandbox doctor` says what is missing; for a remote server the message does',
  ),
  CORPUS_INVALID: user(
    'A corpus index is missing, incomplete or damaged',
    'Build it with `agent-rl data index`; `--rebuild` replaces a damaged one',
  ),
  CORPUS_MISMATCH: user(
    'A corpus index was built from other input, by another version, or with another embedder',
    'Use the settings it was built with, or `agent-rl data index --rebuild`',
  ),
  EMBEDDER_UNAVAILABLE: user(
    'The package, the files or the key of an embedder are missing',
    'The message names them; `dense: none` searches by words alone',
  ),
  EMBEDDING_FAILED: system(
    'An embedder or its server failed or gave no usable vectors',
    'The message names the cause',
  ),
  WEB_REQUEST_FAILED: system(
    'A page or a search provider did not answer as it should, in time, or at all',
    'The model is shown the error and the episode continues; `kind` in the message names the cause',
  ),
  WEB_REQUEST_DENIED: user(
    'A search provider refuses the key, the plan, or the request itself',
    'Check the key and the account; the message names the status',
  ),
  WEB_BUDGET_SPENT: user(
    'The `budget` of a web tool allows no further call',
    'Raise it, then `--resume`; what was recorded costs nothing again',
  ),
  CASSETTE_MISS: user(
    '`mode: replay`, and nothing was recorded for this request',
    'Record it with `mode: record`, or replay with the settings of the recording',
  ),
  RECORD_MISS: user(
    '`generator: {type: replay}`, and the run it replays drew nothing for this request',
    'Replay with the model, tasks, seed and settings of that run',
  ),
  CASSETTE_INVALID: user(
    'A cassette cannot be read or written, or has a line that is not a recording',
    'The message names the file and the line',
  ),
  SOURCE_UNAVAILABLE: system(
    'The Hugging Face hub does not provide a dataset or a model',
    'Check the name, `HF_TOKEN` and the connection; what is in the cache is not fetched again',
  ),
  SHAPE_MISMATCH: bug(
    'Tensors or lists whose sizes must agree do not',
    'Report it, with the message',
  ),
  NOT_TRACEABLE: bug(
    'Model code does what a traced program cannot hold, such as reading a value',
    'Write it with the operations of `agent_rl/engine/ops.ts`',
  ),
  ENGINE_FAILED: system(
    'The numerical engine failed or ran out of memory',
    'Lower `algorithm.microBatchTokens` or `rollout.workers`',
  ),
  GENERATION_FAILED: system(
    'The generator failed: to open, to sample or to take new weights',
    'The message names the cause; `--resume` resumes the run',
  ),
  LEARNING_FAILED: system(
    "A learner's service failed: it is out of reach, refuses what it is asked, or answers what cannot be",
    'The message names the cause; `--resume` resumes the run',
  ),
  ROLLOUTS_FAILED: system(
    'The system failed in all episodes of an iteration or an evaluation, in more than `rollout.failures.maxShare`, or in `maxInARow` of them in a row',
    'The message names the cause of the first and whose it is; mend it, then `--resume`',
  ),
  PARITY_BROKEN: system(
    'Generator and learner disagree by more than `train.parityBound`',
    'Do not train on; report it, with the run folder',
  ),
  PROCESS_BLOCKED: user(
    'The main thread of a program that trains or evaluates was blocked for `rollout.deadlines.stallS`, by a plugin or by the program',
    'Let what computes for so long run in a thread of its own, then resume the run',
  ),
  INTERRUPTED: user('Ctrl-C or SIGTERM', '`--resume` resumes from the last checkpoint'),
} satisfies Record<string, ErrorDefinition>;

/** Stable name of an error; docs/reference/errors.md lists them. */
export type ErrorCode = keyof typeof errorCatalogue;
