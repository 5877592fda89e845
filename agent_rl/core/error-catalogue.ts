/** What an error code stands for. */
export interface ErrorDefinition {
  /** Who caused it: the user, the system (machine, network, a running plugin), or a bug in the code. */
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
    'Each line of the message names the place, the value and the allowed values',
  ),
  DATASET_INVALID: user(
    'A split or another JSONL file is missing, empty, not UTF-8, or has an invalid line',
    'The message names the file and the line; `agent-rl data verify` checks them all',
  ),
  DEVICE_UNAVAILABLE: user(
    '`--device` names a device that this machine or installation does not have',
    '`agent-rl doctor` lists the available devices',
  ),
  MODEL_INVALID: user(
    'Weights or config.json are missing, truncated, or have an unexpected shape',
    'Check the model folder; the message names the tensor or the file',
  ),
  TOKENIZER_INVALID: user(
    'The tokenizer or the chat template is missing or does not fit the weights',
    'Use the tokenizer that the weights were trained with',
  ),
  CHECKPOINT_INVALID: user(
    'The run cannot be resumed: no checkpoint is intact, its records have an unreadable line, or seed, tasks, starting weights, device or engine threads differ from `inputs.json`',
    'The message names the difference or the line; resume with the original inputs, or start a new run',
  ),
  OUTPUT_UNWRITABLE: user(
    'The run folder already exists, cannot be written, is used by another process (`run.lock`), or the disk is full',
    'Choose another `run.outputDir` or `run.name`. If the disk was full, free some space, then use `--resume`',
  ),
  PAGE_MISSING: user(
    'The page of `agent-rl view` is missing from the build',
    'Run `npm run build` in a checkout; otherwise reinstall the package',
  ),
  PLUGIN_UNKNOWN: user(
    'An unknown plugin `type`',
    "The message lists the known ones; add the plugin's file or package under `plugins:`. If a program passed the plugin, the message names the function to call",
  ),
  PLUGIN_DUPLICATE: user(
    'Two plugins of one kind have the same name',
    'Rename one; the message names both',
  ),
  PLUGIN_UNMARKED: user(
    'A class is listed as a plugin but has no plugin decorator',
    'Add `@tool`, `@environment`, `@policy`, `@toolCallFormat` or `reward(…)`',
  ),
  PLUGIN_LOAD_FAILED: user(
    'A plugin cannot be found, throws when it is imported, never finishes loading, exports no plugin, breaks the rules for plugins, or needs a program that is missing',
    'The message names the file and the cause',
  ),
  ROLLOUTS_MIXED: user(
    'An agent called the model on behalf of another rollout, for example from a queue that rollouts share',
    "Use the agent's own `fetch`, or `AsyncResource.bind` for the work in the queue",
  ),
  SANDBOX_UNAVAILABLE: user(
    'This machine does not support the chosen sandbox, or its isolation is broken',
    'Run `agent-rl sandbox doctor` to see what is missing; for a remote server, see the message',
  ),
  CORPUS_INVALID: user(
    'A corpus index is missing, incomplete or damaged',
    'Build it with `agent-rl data index`; `--rebuild` replaces a damaged one',
  ),
  CORPUS_MISMATCH: user(
    'A corpus index was built from different input, by another version, or with another embedder',
    'Use the settings it was built with, or `agent-rl data index --rebuild`',
  ),
  EMBEDDER_UNAVAILABLE: user(
    'The package, the files or the key of an embedder are missing',
    'The message names them; with `dense: none`, search uses words only',
  ),
  EMBEDDING_FAILED: system(
    'An embedder or its server failed, or returned unusable vectors',
    'The message names the cause',
  ),
  WEB_REQUEST_FAILED: system(
    'A page or a search provider gave no answer, a late answer or an invalid one',
    'The model sees the error and the episode continues; `kind` in the message names the cause',
  ),
  WEB_REQUEST_DENIED: user(
    'A search provider rejected the key, the plan or the request',
    'Check the key and the account; the message names the status',
  ),
  WEB_BUDGET_SPENT: user(
    'The `budget` of a web tool allows no further call',
    'Raise it, then `--resume`; recorded requests cost nothing',
  ),
  CASSETTE_MISS: user(
    'With `mode: replay`, the request has no recording',
    'Record it with `mode: record`, or replay with the settings of the recording',
  ),
  RECORD_MISS: user(
    'With `generator: {type: replay}`, the replayed run has no sample for the request',
    'Replay with the model, tasks, seed and settings of that run',
  ),
  TOOL_INTERRUPTED: system(
    'A run was killed during a call of a tool that does not say that calls may be repeated',
    "The rollout has no reward; set `onInterrupt: 'repeat'` in the spec of the tool if its calls may be repeated",
  ),
  CASSETTE_INVALID: user(
    'A cassette cannot be read or written, or has an invalid line',
    'The message names the file and the line',
  ),
  SOURCE_UNAVAILABLE: system(
    'The Hugging Face hub does not provide a dataset or a model',
    'Check the name, `HF_TOKEN` and the connection; cached files are not downloaded again',
  ),
  SHAPE_MISMATCH: bug(
    'Two tensors or lists must have the same size, but do not',
    'Report the error with its message',
  ),
  NOT_TRACEABLE: bug(
    "Model code cannot be traced, for example because it reads a tensor's value",
    'Write it with the operations of `agent_rl/engine/ops.ts`',
  ),
  ENGINE_FAILED: system(
    'The numerical engine failed or ran out of memory',
    'Lower `algorithm.microBatchTokens` or `rollout.workers`',
  ),
  GENERATION_FAILED: system(
    'The generator failed to open, to sample or to load new weights',
    'The message names the cause; `--resume` resumes the run',
  ),
  LEARNING_FAILED: system(
    "A learner's service is unreachable, refused a request, or gave an invalid answer",
    'The message names the cause; `--resume` resumes the run',
  ),
  HINT_WITHOUT_GAIN: user(
    'The hint of a self-distillation hardly helps to solve held-out tasks, so that there is little to teach',
    'Write a hint that says more (`algorithm.distill.hint`), or lower `leastHintGain`',
  ),
  ROLLOUTS_FAILED: system(
    'Too many episodes failed: all of an iteration or evaluation, a share above `rollout.failures.maxShare`, or `maxInARow` in a row',
    'The message names the first cause and who is responsible; fix it, then `--resume`',
  ),
  PARITY_BROKEN: system(
    'Generator and learner disagree by more than `train.parityBound`',
    'Do not continue training; report it, with the run folder',
  ),
  PROCESS_BLOCKED: user(
    'A plugin or your program blocked the main thread for `rollout.deadlines.stallS` during training or evaluation',
    'Move the long computation to another thread, then resume the run',
  ),
  INTERRUPTED: user('Ctrl-C or SIGTERM', '`--resume` resumes from the last checkpoint'),
} satisfies Record<string, ErrorDefinition>;

/** Stable name of an error; docs/reference/errors.md lists them. */
export type ErrorCode = keyof typeof errorCatalogue;
