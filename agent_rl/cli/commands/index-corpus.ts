import { namedOrShipped } from '../../core/package-root.ts';
import type { Command } from '../command.ts';
import { setsOf } from '../flags/config-flags.ts';
import { jsonFlag, listFlag, switchFlag, textFlag } from '../flags/flag.ts';
import { printer, writeJson } from '../io.ts';

export const indexCorpus: Command = {
  name: 'index <input>',
  describe: 'Build the search index of a corpus',
  examples: [
    ['documents.jsonl --output corpus', 'By words alone (BM25)'],
    ['prepared --output corpus --config my_index.yaml', 'What prepare-data wrote, with settings'],
  ],
  positionals: {
    input: {
      type: 'string',
      demandOption: true,
      describe: 'JSONL file of documents or passages, or a folder that prepare-data wrote',
    },
  },
  options: {
    output: textFlag('Folder of the index', { demandOption: true }),
    config: textFlag('Settings of the index (YAML: dense, chunking, text, annFrom)'),
    set: listFlag('Any of these settings, as path=value: --set chunking.tokens=128'),
    rebuild: switchFlag('Replace an index that is already there, whole or damaged'),
    json: jsonFlag,
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const { input, output, config } = parsed;
    const result = await jobs.index({
      input: namedOrShipped(String(input)),
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
