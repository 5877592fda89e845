import type { LocalSandboxType, VerifyDatasetOptions } from '../../jobs/job.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Command } from '../command.ts';
import type { Parsed } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';
import { localSandboxTypes } from '../local-sandbox-types.ts';
import { numberOf, textOf } from './prepare-data/prepare-data-settings.ts';

export const verifyDataset: Command = {
  name: 'verify-dataset',
  describe: 'Check a dataset: reference solutions against their tests, answers against documents',
  options: {
    dataset: { type: 'string', demandOption: true, requiresArg: true, describe: 'JSONL file' },
    format: {
      type: 'string',
      requiresArg: true,
      describe: 'humaneval, mbpp or search; our own of code tasks otherwise',
    },
    documents: {
      type: 'string',
      requiresArg: true,
      describe: 'Of search tasks: JSONL file of the corpus',
    },
    'sandbox-type': {
      choices: localSandboxTypes,
      requiresArg: true,
      describe: 'Of code tasks: sandbox of the reference solutions; otherwise the strongest here',
    },
    'sandbox-python': {
      type: 'string',
      requiresArg: true,
      describe: 'Of code tasks: Python of the native sandbox',
    },
    'sandbox-workers': {
      type: 'string',
      requiresArg: true,
      describe: 'Of code tasks: programs run at once',
    },
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const [format, documents] = [textOf(parsed, 'format'), textOf(parsed, 'documents')];
    refuseIdle(parsed, format);
    const result = await jobs.verifyDataset({
      dataset: String(parsed['dataset']),
      signal: io.signal,
      print: printer(io, json),
      ...(format !== undefined && { format }),
      ...(documents !== undefined && { documents }),
      ...sandboxOf(parsed),
    });
    if (json) writeJson(io, result);
    return result.ok ? 0 : 1;
  },
};

const ofCode = ['sandbox-type', 'sandbox-python', 'sandbox-workers'] as const;

/** @throws AgentRlError `CONFIG_INVALID` for flags that the format has no use for */
function refuseIdle(parsed: Parsed, format = 'code tasks'): void {
  const idle = (format === 'search' ? ofCode : ['documents']).filter(
    (flag) => parsed[flag] !== undefined,
  );
  if (idle.length === 0) return;
  const flags = idle.map((flag) => `--${flag}`).join(', ');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${flags}: no effect on ${format}. Leave ${idle.length === 1 ? 'it' : 'them'} out.`,
  );
}

/** @throws AgentRlError `CONFIG_INVALID` */
function sandboxOf(
  parsed: Parsed,
): Pick<VerifyDatasetOptions, 'sandboxType' | 'sandboxPython' | 'sandboxWorkers'> {
  const [type, python] = [textOf(parsed, 'sandbox-type'), textOf(parsed, 'sandbox-python')];
  return {
    ...(type !== undefined && { sandboxType: type as LocalSandboxType }),
    ...(python !== undefined && { sandboxPython: python }),
    ...(parsed['sandbox-workers'] !== undefined && {
      sandboxWorkers: numberOf(parsed, 'sandbox-workers', { least: 1, most: 256, whole: true }),
    }),
  };
}
