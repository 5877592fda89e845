import { namedOrShipped } from '../../../core/package-root.ts';
import { command } from '../../command.ts';
import { listFlag, requiredFlag, switchFlag, textFlag } from '../../flags/flag.ts';

export const indexCorpus = command({
  name: 'index <input>',
  describe: 'Build the search index of a corpus',
  examples: [
    ['documents.jsonl --output corpus', 'Keyword search only (BM25)'],
    [
      'prepared --output corpus --config my_index.yaml',
      'The output of data prepare, with settings',
    ],
  ],
  positionals: {
    input: requiredFlag('JSONL file of documents or passages, or a folder written by data prepare'),
  },
  flags: {
    output: requiredFlag('Folder to write the index to'),
    config: textFlag('Settings of the index (YAML: dense, chunking, text, annFrom)'),
    set: listFlag('One setting of the index, as path=value: --set chunking.tokens=128'),
    rebuild: switchFlag('Replace an existing index'),
  },
  run: ({ input, set: sets, ...flags }, { jobs, job }) =>
    jobs.index({ ...flags, input: namedOrShipped(input), sets, ...job }),
});
