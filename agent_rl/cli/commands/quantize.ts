import { adapterTargetNames } from '../../core/services/linear-module.ts';
import type { QuantizeOptions } from '../../jobs/job.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Command } from '../command.ts';
import { textsOf, type Parsed } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';
import {
  engineOptions,
  numberFlag,
  revisionOf,
  revisionOption,
  type NumberRange,
} from '../model-flags.ts';

export const quantize: Command = {
  name: 'quantize <model> <output>',
  describe: 'Write a model with its linear layers in four bits, and an adapter to train over it',
  positionals: {
    model: {
      type: 'string',
      demandOption: true,
      describe: 'Model folder, or a model of the hub as org/name',
    },
    output: { type: 'string', demandOption: true, describe: 'New folder' },
  },
  options: {
    revision: revisionOption,
    'block-size': {
      type: 'string',
      default: '64',
      requiresArg: true,
      describe: 'Weights that share a scale: a power of two from 16',
    },
    text: {
      type: 'string',
      requiresArg: true,
      describe: 'UTF-8 text to compare both models on; random tokens without it',
    },
    'text-tokens': {
      type: 'string',
      default: '2048',
      requiresArg: true,
      describe: 'Most tokens of it that are used',
    },
    'lora-rank': {
      type: 'string',
      default: '8',
      requiresArg: true,
      describe: 'Rank of the adapter; 0 writes none',
    },
    'lora-alpha': { type: 'string', requiresArg: true, describe: 'Its alpha (16)' },
    'lora-targets': {
      type: 'string',
      array: true,
      nargs: 1,
      describe: `Layers it is on: ${adapterTargetNames.join(', ')}; all-linear by default`,
    },
    seed: {
      type: 'string',
      default: '42',
      requiresArg: true,
      describe: "Keys the adapter's start",
    },
    ...engineOptions,
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const { text } = parsed;
    // Each flag it is asked for has a default.
    const number = (flag: string, range: NumberRange): number =>
      numberFlag(parsed, flag, range) as number;
    const count = { from: 1, whole: true };
    const engineThreads = numberFlag(parsed, 'engine-threads', count);
    const result = await jobs.quantize({
      model: String(parsed['model']),
      ...revisionOf(parsed),
      output: String(parsed['output']),
      blockSize: number('block-size', { from: 16, whole: true }),
      textTokens: number('text-tokens', { from: 2, whole: true }),
      seed: number('seed', { from: 0, whole: true }),
      device: String(parsed['device']),
      signal: io.signal,
      print: printer(io, json),
      ...(typeof text === 'string' && { text }),
      ...(engineThreads !== undefined && { engineThreads }),
      ...adapterOf(parsed, number('lora-rank', { from: 0, whole: true })),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};

/** The adapter that is asked for. @throws AgentRlError `CONFIG_INVALID` when flags speak of one and the rank is 0. */
function adapterOf(parsed: Parsed, rank: number): Pick<QuantizeOptions, 'lora'> {
  const alpha = numberFlag(parsed, 'lora-alpha', { from: 0, above: true });
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
