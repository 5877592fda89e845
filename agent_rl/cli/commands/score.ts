import type { Command } from '../command.ts';
import { numberFlag, numberGiven, textFlag } from '../flags/flag.ts';
import { modelJob, modelOptions } from '../flags/model-flags.ts';
import { writeJson } from '../io.ts';

export const score: Command = {
  name: 'score',
  describe: 'Write the log-probabilities of given token ids',
  examples: [
    ['--model model/starter --input ids.jsonl --output logprobs.jsonl', 'One line for each line'],
    [
      '--model Qwen/Qwen3-0.6B --quantize --input ids.jsonl --output logprobs.jsonl',
      'With the linear layers in four bits',
    ],
  ],
  options: {
    ...modelOptions,
    input: textFlag('JSONL file of {"ids": [...]}, each with an optional "id" to give back', {
      demandOption: true,
    }),
    output: textFlag('New JSONL file of {"logprobs": [null, ...]}, in the order of the input', {
      demandOption: true,
    }),
    'batch-tokens': numberFlag('Most tokens in one forward pass; fewer need less memory', 4096),
  },
  run: async (parsed, { io, jobs }) => {
    const result = await jobs.score({
      ...modelJob(parsed, io),
      input: String(parsed['input']),
      output: String(parsed['output']),
      batchTokens: numberGiven(parsed, 'batch-tokens', { from: 1, whole: true }),
    });
    if (parsed['json'] === true) writeJson(io, result);
    return 0;
  },
};
