import type { Options } from 'yargs';

import type { ModelJobOptions } from '../jobs/job.ts';
import { AgentRlError } from '../core/errors.ts';
import { textsOf, type Parsed } from './config-flags.ts';
import { type Io, printer } from './io.ts';

/** Of a command that takes a model by name. */
export const revisionOption: Options = {
  type: 'string',
  requiresArg: true,
  describe: 'Branch, tag or commit of a model of the hub; main by default',
};

/** What `revisionOption` asks for. */
export const revisionOf = ({ revision }: Parsed): { revision?: string } =>
  typeof revision === 'string' ? { revision } : {};

/** What a command runs on, and how it answers. */
export const engineOptions: Readonly<Record<string, Options>> = {
  device: {
    type: 'string',
    default: 'cpu',
    requiresArg: true,
    describe: 'cpu, cuda, cuda:N, webgpu or tensorflow',
  },
  'engine-threads': { type: 'string', requiresArg: true, describe: 'Engine threads' },
  json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
};

/** Flags of the commands that run a model by itself. */
export const modelOptions: Readonly<Record<string, Options>> = {
  model: {
    type: 'string',
    demandOption: true,
    requiresArg: true,
    describe: 'Model folder, or a model of the hub as org/name',
  },
  revision: revisionOption,
  adapter: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Folder of an adapter over the model; several add up',
  },
  quantize: {
    type: 'boolean',
    default: false,
    describe: 'Hold linear layers in four bits, quantised while they are loaded',
  },
  'quantize-block-size': {
    type: 'string',
    requiresArg: true,
    describe: 'Weights that share a scale then (64): a power of two from 16',
  },
  ...engineOptions,
};

/** What `modelOptions` ask for. @throws AgentRlError `CONFIG_INVALID` */
export function modelJob(parsed: Parsed, io: Io): ModelJobOptions {
  const engineThreads = numberFlag(parsed, 'engine-threads', { from: 1, whole: true });
  return {
    model: String(parsed['model']),
    device: String(parsed['device']),
    adapters: textsOf(parsed['adapter']),
    ...revisionOf(parsed),
    ...quantizationOf(parsed),
    ...(engineThreads !== undefined && { engineThreads }),
    signal: io.signal,
    print: printer(io, parsed['json'] === true),
  };
}

function quantizationOf(parsed: Parsed): Pick<ModelJobOptions, 'quantize'> {
  const blockSize = numberFlag(parsed, 'quantize-block-size', { from: 16, whole: true });
  if (parsed['quantize'] === true) return { quantize: { bits: 4, blockSize: blockSize ?? 64 } };
  if (blockSize === undefined) return {};
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--quantize-block-size ${blockSize} has no effect without --quantize. Give both or neither.`,
  );
}

export interface NumberRange {
  from: number;
  to?: number;
  /** Only integers. */
  whole?: boolean;
  /** Without `from` itself. */
  above?: boolean;
}

/**
 * The number a flag of type string was given, so that what is no number can be shown as it was written.
 *
 * @throws AgentRlError `CONFIG_INVALID` when it is not in the range.
 */
export function numberFlag(parsed: Parsed, flag: string, range: NumberRange): number | undefined {
  const given = parsed[flag];
  if (typeof given !== 'string') return undefined;
  const { from, to = Infinity, whole = false, above = false } = range;
  const value = given.trim() === '' ? Number.NaN : Number(given);
  const counts = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (counts && value <= to && (above ? value > from : value >= from)) return value;
  const lowest = `${above ? 'above' : 'from'} ${from}`;
  const allowed = to === Infinity ? lowest : `${lowest} to ${to}`;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--${flag} is "${given}"; expected a ${whole ? 'whole ' : ''}number ${allowed}.`,
  );
}
