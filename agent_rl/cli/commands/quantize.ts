import { adapterTargetNames } from '../../core/services/linear-module.ts';
import type { QuantizeOptions } from '../../jobs/models/quantize/quantize-options.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Command } from '../command.ts';
import {
  listFlag,
  numberFlag,
  numberGiven,
  numberOf,
  type Parsed,
  textFlag,
  textsOf,
} from '../flags/flag.ts';
import { engineOptions, modelOption, revisionOf, revisionOption } from '../flags/model-flags.ts';
import { printer, writeJson } from '../io.ts';

export const quantize: Command = {
  name: 'quantize',
  describe: 'Write a model with its linear layers in four bits, and an adapter to train on top',
  examples: [
    ['--model Qwen/Qwen3-0.6B --output qwen-4bit', 'With a new adapter of rank 8 beside it'],
    [
      '--model my-model --output my-model-4bit --lora-rank 0 --text sample.txt',
      'The model alone, compared with the original on a text',
    ],
  ],
  options: {
    model: modelOption,
    revision: revisionOption,
    output: textFlag('New folder for the quantised model', { demandOption: true }),
    'block-size': numberFlag('Weights that share a scale: a power of two, at least 16', 64),
    text: textFlag('UTF-8 text to compare both models on; random tokens without it'),
    'text-tokens': numberFlag('Most tokens of the text to use', 2048),
    'lora-rank': numberFlag('Rank of the adapter; 0 writes none', 8),
    'lora-alpha': numberFlag('Alpha of the adapter (16)'),
    'lora-targets': listFlag(
      `Layers with an adapter: ${adapterTargetNames.join(', ')}; all-linear by default`,
    ),
    seed: numberFlag('Seed of the weights that the adapter starts with', 42),
    ...engineOptions,
  },
  wordsOfToday: (words) => {
    const [model, output] = words;
    if (model === undefined || output === undefined || words.length > 2) return undefined;
    return ['--model', model, '--output', output];
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const { text } = parsed;
    const engineThreads = numberOf(parsed, 'engine-threads', { from: 1, whole: true });
    const result = await jobs.quantize({
      model: String(parsed['model']),
      ...revisionOf(parsed),
      output: String(parsed['output']),
      blockSize: numberGiven(parsed, 'block-size', { from: 16, whole: true }),
      textTokens: numberGiven(parsed, 'text-tokens', { from: 2, whole: true }),
      seed: numberGiven(parsed, 'seed', { from: 0, whole: true }),
      device: String(parsed['device']),
      signal: io.signal,
      print: printer(io, json),
      ...(typeof text === 'string' && { text }),
      ...(engineThreads !== undefined && { engineThreads }),
      ...adapterOf(parsed, numberGiven(parsed, 'lora-rank', { from: 0, whole: true })),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};

/** The adapter that is asked for. @throws AgentRlError `CONFIG_INVALID` when flags speak of one and the rank is 0. */
function adapterOf(parsed: Parsed, rank: number): Pick<QuantizeOptions, 'lora'> {
  const alpha = numberOf(parsed, 'lora-alpha', { from: 0, above: true });
  const targets = textsOf(parsed['lora-targets']);
  if (rank > 0) {
    return {
      lora: {
        rank,
        alpha: alpha ?? 16,
        targets: targets.length === 0 ? ['all-linear'] : targets,
      },
    };
  }
  if (alpha === undefined && targets.length === 0) return {};
  throw new AgentRlError(
    'CONFIG_INVALID',
    '--lora-rank 0 writes no adapter, so --lora-alpha and --lora-targets would have no effect. Leave them out, or give a rank.',
  );
}
