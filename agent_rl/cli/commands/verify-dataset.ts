import type { Command } from '../command.ts';
import { printer, writeJson } from '../io.ts';

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
    'sandbox-workers': { type: 'number', requiresArg: true, describe: 'Programs run at once' },
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const { dataset, format, documents, 'sandbox-workers': sandboxWorkers } = parsed;
    const result = await jobs.verifyDataset({
      dataset: String(dataset),
      signal: io.signal,
      print: printer(io, json),
      ...(typeof format === 'string' ? { format } : {}),
      ...(typeof documents === 'string' ? { documents } : {}),
      ...(typeof sandboxWorkers === 'number' ? { sandboxWorkers } : {}),
    });
    if (json) writeJson(io, result);
    return result.ok ? 0 : 1;
  },
};
