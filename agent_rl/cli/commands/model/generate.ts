import { command } from '../../command.ts';
import {
  count,
  countOrZero,
  numberFlag,
  quietFlag,
  switchFlag,
  textFlag,
  requiredFlag,
} from '../../flags/flag.ts';
import { modelFlags, modelJob } from '../../flags/model-flags.ts';

export const generate = command({
  name: 'generate',
  describe: 'Continue conversations or token ids, greedily or sampled',
  examples: [
    ['--model model/starter --prompt "What is 2 + 2?"', 'One answer, on the terminal'],
    [
      '--model Qwen/Qwen3-0.6B --input prompts.jsonl --output answers.jsonl --samples 4',
      'Four answers to each line of a file',
    ],
  ],
  flags: {
    ...modelFlags,
    input: textFlag('JSONL file of {"messages": [...], "tools"?: [...]} and {"ids": [...]}'),
    prompt: textFlag('What a user says, in place of a file'),
    output: textFlag('New JSONL file; without it, --prompt prints its answers'),
    tools: textFlag('JSON file of tools for the conversations that name none of their own'),
    thinking: switchFlag('Let the model think before it answers'),
    'max-tokens': numberFlag('Most tokens in an answer', count, 128),
    temperature: numberFlag('0 takes the most likely token', { from: 0 }, 1),
    'top-k': numberFlag('Keep the k most likely tokens; 0 is off', countOrZero, 0),
    'top-p': numberFlag(
      'Keep the most likely tokens up to this probability mass; 1 is off',
      { from: 0, above: true, to: 1 },
      1,
    ),
    'min-p': numberFlag(
      'Keep tokens this fraction as likely as the most likely; 0 is off',
      { from: 0, to: 1 },
      0,
    ),
    seed: numberFlag('Seed of everything random', countOrZero, 0),
    samples: numberFlag('Answers to each line', count, 1),
    batch: numberFlag('Answers in flight; the answers do not depend on it', count, 16),
    quiet: quietFlag,
  },
  run: ({ temperature, topK, topP, minP, ...flags }, { jobs, job }) =>
    jobs.generate({
      ...modelJob(flags),
      sampling: { temperature, topK, topP, minP },
      ...job,
    }),
});

export const score = command({
  name: 'score',
  describe: 'Write the log-probabilities of given token ids',
  examples: [
    ['--model model/starter --input ids.jsonl --output logprobs.jsonl', 'One line for each line'],
    [
      '--model Qwen/Qwen3-0.6B --quantize --input ids.jsonl --output logprobs.jsonl',
      'With the linear layers in four bits',
    ],
  ],
  flags: {
    ...modelFlags,
    input: requiredFlag('JSONL file of {"ids": [...]}, each with an optional "id" to give back'),
    output: requiredFlag('New JSONL file of {"logprobs": [null, ...]}, in the order of the input'),
    'batch-tokens': numberFlag(
      'Most tokens in one forward pass; fewer need less memory',
      count,
      4096,
    ),
    quiet: quietFlag,
  },
  run: (flags, { jobs, job }) => jobs.score({ ...modelJob(flags), ...job }),
});
