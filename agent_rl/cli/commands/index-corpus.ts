import type { Command } from '../command.ts';
import { setsOf } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';

export const indexCorpus: Command = {
  name: 'index <input>',
  describe: 'Build the search index of a corpus',
  positionals: {
    input: {
      type: 'string',
      demandOption: true,
      describe: 'JSONL file of documents or passages, or a folder of prepared data',
    },
  },
  options: {
    output: {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'Folder of the index',
    },
    config: {
      type: 'string',
      requiresArg: true,
      describe: 'Settings of the index (YAML: dense, chunking, text, annFrom)',
    },
    set: {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'Any setting, as path=value: --set chunking.tokens=128',
    },
    rebuild: {
      type: 'boolean',
      default: false,
      describe: 'Replace an index that is there, whole or damaged',
    },
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const { input, output, config } = parsed;
    const result = await jobs.index({
      input: String(input),
      output: String(output),
      sets: setsOf(parsed),
      rebuild: parsed['rebuild'] === true,
      signal: io.signal,
      print: printer(io, json),
      ...(typeof config === 'string' ? { config } : {}),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};
