import type { Command } from '../command.ts';
import { printer, writeJson } from '../io.ts';

export const verifyDataset: Command = {
  name: 'verify-dataset',
  describe: 'Run every reference solution of a dataset against its own tests',
  options: {
    dataset: { type: 'string', demandOption: true, requiresArg: true, describe: 'JSONL file' },
    format: { type: 'string', requiresArg: true, describe: 'mbpp; our own format otherwise' },
    'sandbox-workers': { type: 'number', requiresArg: true, describe: 'Programs run at once' },
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const { dataset, format, 'sandbox-workers': sandboxWorkers } = parsed;
    const result = await jobs.verifyDataset({
      dataset: String(dataset),
      signal: io.signal,
      print: printer(io, json),
      ...(typeof format === 'string' ? { format } : {}),
      ...(typeof sandboxWorkers === 'number' ? { sandboxWorkers } : {}),
    });
    if (json) writeJson(io, result);
    return result.ok ? 0 : 1;
  },
};
