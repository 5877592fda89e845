import { metricNames } from '../../agent_rl/telemetry/metric-names.ts';
import { code, page, plain, table } from './markdown.ts';

type Rows = [names: string, meaning: string][];

/** Names with commas between them, each as code. */
const rowsOf = (rows: Rows): string[][] =>
  rows.map(([names, meaning]) => [names.split(', ').map(code).join(', '), plain(meaning)]);

const runFolder: Rows = [
  [
    'config.yaml',
    'The config of the run: every default filled in, every path absolute. It can be run again',
  ],
  [
    'inputs.json',
    'The seed, and SHA-256 of the task files and of the starting model. A resumed run is held to them',
  ],
  ['metrics.jsonl', 'One line for each iteration'],
  ['trajectories/train.jsonl', 'One line for each training episode'],
  ['trajectories/eval.jsonl', 'One line for each held-out episode'],
  [
    'checkpoints/step-N/',
    'The weights after N iterations, with all that is needed to resume; `checkpoints/best/` with `checkpoint.keepBest`',
  ],
  ['run.log', 'The log; with `--log-rollouts` a line for each episode'],
  ['summary.json', 'The results, written when the run ends'],
  ['run.lock', 'There while a process works on the run; keeps others out'],
];

const trajectoryKeys: Rows = [
  [
    'schema, runId, iteration, step',
    'Version of the layout; name of the run folder; iteration; optimiser steps of the weights that sampled the episode',
  ],
  ['when', 'Held-out episodes only: `before`, `during` or `after` training'],
  ['taskId, sample', 'The task, and which attempt of its group this is'],
  [
    'tokens, spans, logProbs',
    'Token ids; who wrote which, as `{start, end, source, version?}`; log-probabilities in nats, 0 where a token was not sampled',
  ],
  [
    'toolCalls',
    'Each as `{id, name, arguments, status, content, wallMs}`; the status is `ok`, `error`, `rejected` or `timeout`',
  ],
  ['turns, malformedCalls', 'Counts'],
  ['outcome, success, reward', 'The verdict; the reward is null when the system failed'],
  [
    'components, scores, metrics',
    'The parts that the reward is the sum of; each reward before its weight; what the environment counts',
  ],
  ['seconds', 'Time spent, by `generation`, `tools` and `grading`'],
  ['sandboxLevel, problem', 'What ran the code; why the system failed; null otherwise'],
  [
    'search_history',
    'Environment `search` only: `{query, status, documentIds, quotedAnswer, repeated, foundAnswer}` of each search',
  ],
];

const outcomeRows: [name: string, when: string, reward: string, training: string][] = [
  ['completed', 'The environment says that the task is solved', 'judged', 'trained'],
  ['wrong-answer', 'The episode ended, and the task is not solved', 'judged', 'trained'],
  [
    'truncated-tokens',
    'A turn or the episode ran out of tokens',
    'judged',
    'trained; with `algorithm.truncated: drop` left out after the mean of its group',
  ],
  ['truncated-turns', '`rollout.maxTurns` was reached', 'judged', 'the same'],
  [
    'invalid-calls',
    '`rollout.invalidCallLimit` calls were unreadable, unknown or invalid',
    'judged',
    'trained',
  ],
  [
    'tool-timeout',
    'An environment gives up because a tool ran out of time; the built-in ones tell the model and go on',
    'judged',
    'trained',
  ],
  [
    'infrastructure-error',
    'Generator, tool, environment or sandbox failed',
    'absent',
    'not in the statistics of its group; counted',
  ],
  ['grader-error', '`finish` or a reward threw, or gave no finite number', 'absent', 'the same'],
  [
    'aborted',
    'The episode was cancelled, or took longer than `rollout.episodeTimeoutS`',
    'absent',
    'the same',
  ],
];

const ledgerRows: Rows = [
  ['trained', 'They have a weight in the loss'],
  ['zero-advantage', 'The episode was exactly as good as its group'],
  [
    'truncated',
    'Left out because the episode ran out of tokens or turns (`algorithm.truncated: drop`)',
  ],
  ['resampled', 'The group was drawn again (`rollout.resampleZeroVariance`)'],
  ['infrastructure, grader, aborted', 'The system failed'],
];

const summaryKeys: Rows = [
  ['seed, iterations, interrupted', 'What was run, and whether it was cut short'],
  ['control', '`none`, or how the run was spoilt on purpose (`train.control`)'],
  ['sessions', '1, and one more for each time the run was resumed'],
  ['wallSeconds, cpuSeconds', 'Time, and processor time of the process tree'],
  ['eval', '`before` and `after`, each an evaluation as below, or null if it was not run'],
  [
    'parameters, trainedParameters',
    'How many there are in the model and its adapters, and how many of them learn',
  ],
  ['weightsSha256, checkpoint', 'Of the last checkpoint'],
  ['trainTokensPerSecond', 'Tokens through the update by the seconds of the updates'],
  [
    'decodeTokensPerSecond',
    'Tokens sampled by the seconds the generator ran. `speed/decodeTokensPerSecond` of an iteration divides by the whole collection, tools and judging included',
  ],
  [
    'generation',
    'Totals of the generator: steps, tokens sampled, fed and prefilled, seconds in the runtime and in all',
  ],
  ['maxAbsLogProbGap, meanAbsLogProbGap', 'How far generator and learner were apart, in nats'],
  [
    'peakRssBytes, rssScope',
    'Highest resident memory, and of what: the process tree where the system tells',
  ],
  ['outcomes', 'Training episodes by how they ended'],
  ['ledger', 'Sampled tokens by what became of them'],
  [
    'sandboxLevel, sandbox',
    'Backend and level that ran the code of the policy; requests to it, those answered before, and `incidents`, what it had to mend',
  ],
  ['tools', 'What tools report, by name: calls, shares answered from a cassette, money spent'],
  ['rewards', 'What rewards report, such as the floor of `answer_similarity`'],
];

const evaluationKeys: Rows = [
  [
    'n, successes, successRate, wilson95',
    'Attempts with a verdict, those that solved their task, their share, and its Wilson 95 % interval as `[low, high]`',
  ],
  ['rewardMean', 'Mean reward'],
  ['systemFailures', 'Attempts without a verdict because the system failed'],
  ['passAtK', 'Estimated share of tasks solved by at least one of k attempts, by k'],
  ['groups', 'Success rates by the slices of the tasks (`metadata.slice`) and by data set'],
  [
    'environment, environmentByGroup',
    'Means of what the environment counts, over all attempts and by slice',
  ],
  ['scores', 'Mean of each reward before its weight'],
];

const sftKeys: Rows = [
  ['seed, iterations, interrupted', 'What was run, and whether it was cut short'],
  ['loss', 'Of the last update'],
  ['conversations, tokens', 'What was trained on'],
  ['wallSeconds, cpuSeconds, peakRssBytes', 'Time, processor time and highest memory'],
  ['weightsSha256, checkpoint', 'Of the checkpoint'],
];

const checkpointFiles: Rows = [
  ['config.json, model.safetensors', 'A Hugging Face model, in float32'],
  [
    'adapter_config.json, adapter_model.safetensors',
    'In place of those where an adapter is trained: the layout of PEFT, in float32',
  ],
  ['trained-over.json', '`adapters`: folders of the adapters under it, where there are any'],
  [
    'tokenizer.json, tokenizer_config.json, chat_template.jinja',
    'Copied from the model that the run started with',
  ],
  ['optimizer.safetensors', '`m.<tensor>`, `v.<tensor>` and `steps`'],
  ['trainer-state.json', 'Iteration, optimiser steps, place in the tasks, best success, totals'],
  [
    'manifest.json',
    '`schema`, `step`, `weightsSha256`, and the SHA-256 of every other file; written last',
  ],
];

const keyTable = (rows: Rows): string => table(['Key', 'Meaning'], rowsOf(rows));

/** `docs/reference/metrics-and-files.md` */
export const filesPage = (): string =>
  page(
    'Metrics and files',
    'What a run writes into its folder, `<run.outputDir>/<run.name>`, and what every field means. A run folder is never overwritten.',
    table(['File', 'Holds'], rowsOf(runFolder)),
    '## Metrics',
    'A line of `metrics.jsonl` is `{"iteration": 3, "rollout/rewardMean": 0.4, …}`. A name that ends in `*` stands for a family: `reward/*` has a member for each reward. Unit 1 is for shares and pure numbers. Means over episodes leave out those that the system failed.',
    table(
      ['Metric', 'Unit', 'Meaning'],
      Object.entries(metricNames).map(([name, { unit, description }]) => [
        code(name),
        unit,
        plain(description),
      ]),
    ),
    '## Outcomes',
    'How an episode ended: `outcome` of a trajectory, `outcome/*` of the metrics.',
    table(
      ['Outcome', 'When', 'Reward', 'In training'],
      outcomeRows.map(([name, ...cells]) => [code(name)].concat(cells.map(plain))),
    ),
    '## Ledger',
    'The ledger books every sampled token in one bucket, and so tells why a gradient is zero: `ledger/*` of the metrics, `ledger` of the summary. A run whose sums do not match stops.',
    table(['Bucket', 'What became of the tokens'], rowsOf(ledgerRows)),
    '## Trajectories',
    'A line of `trajectories/*.jsonl` is one episode.',
    keyTable(trajectoryKeys),
    '## Summary',
    'Times, memory, the totals of generator and sandbox and what tools and rewards report are those of all sessions of a resumed run, each up to the checkpoint that the next one resumed from. What was not measured is null, never 0.',
    keyTable(summaryKeys),
    'An evaluation, also in the output of `agent-rl eval --json`:',
    keyTable(evaluationKeys),
    'A run of supervised training (`agent-rl sft`) writes:',
    keyTable(sftKeys),
    '## Checkpoints',
    'A checkpoint is a folder that is filled aside and renamed. One without a manifest, or whose files do not match it, is torn and is skipped with a warning. `weightsSha256` is over the tensors sorted by name, as little-endian float32.',
    table(['File', 'Holds'], rowsOf(checkpointFiles)),
  );
