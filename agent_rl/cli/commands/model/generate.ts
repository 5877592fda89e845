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
  describe: 'Generate text from conversations or token ids',
  examples: [
    ['--model model/starter --prompt "What is 2 + 2?"', 'Print one answer'],
    [
      '--model Qwen/Qwen3-0.6B --input prompts.jsonl --output answers.jsonl --samples 4',
      'Write four answers for each line of a file',
    ],
  ],
  flags: {
    ...modelFlags,
    input: textFlag('JSONL file of {"messages": [...], "tools"?: [...]} and {"ids": [...]}'),
    prompt: textFlag('User message, instead of --input'),
    output: textFlag('New JSONL file (default with --prompt: print the answers)'),
    tools: textFlag('JSON file of tools, for conversations that list no tools'),
    thinking: switchFlag('Let the model think before it answers'),
    'max-tokens': numberFlag('Maximum tokens per answer', count, 128),
    temperature: numberFlag('Sampling temperature; 0 takes the most likely token', { from: 0 }, 1),
    'top-k': numberFlag('Sample from the k most likely tokens; 0 is off', countOrZero, 0),
    'top-p': numberFlag(
      'Sample from the most likely tokens up to this total probability; 1 is off',
      { from: 0, above: true, to: 1 },
      1,
    ),
    'min-p': numberFlag(
      'Sample from tokens with at least this fraction of the highest probability; 0 is off',
      { from: 0, to: 1 },
      0,
    ),
    seed: numberFlag('Seed of everything random', countOrZero, 0),
    samples: numberFlag('Answers per line', count, 1),
    batch: numberFlag(
      'Answers to generate in parallel; the number does not change the answers',
      count,
      16,
    ),
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
  describe: 'Compute the log-probabilities of given token ids',
  examples: [
    [
      '--model model/starter --input ids.jsonl --output logprobs.jsonl',
      'Write one line of log-probabilities per input line',
    ],
    [
      '--model Qwen/Qwen3-0.6B --quantize --input ids.jsonl --output logprobs.jsonl',
      'The same with the linear layers in four bits',
    ],
  ],
  flags: {
    ...modelFlags,
    input: requiredFlag(
      'JSONL file of {"ids": [...]}, each with an optional "id" to copy to the output',
    ),
    output: requiredFlag('New JSONL file of {"logprobs": [null, ...]}, in the order of the input'),
    'batch-tokens': numberFlag(
      'Maximum tokens per forward pass; a lower number needs less memory',
      count,
      4096,
    ),
    quiet: quietFlag,
  },
  run: (flags, { jobs, job }) => jobs.score({ ...modelJob(flags), ...job }),
});
