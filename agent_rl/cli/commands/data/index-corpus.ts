import { namedOrShipped } from '../../../core/package-root.ts';
import { command } from '../../command.ts';
import { listFlag, requiredFlag, switchFlag, textFlag } from '../../flags/flag.ts';

export const indexCorpus = command({
  name: 'index <input>',
  describe: 'Build the search index of a corpus',
  examples: [
    ['documents.jsonl --output corpus', 'By words alone (BM25)'],
    ['prepared --output corpus --config my_index.yaml', 'What data prepare wrote, with settings'],
  ],
  positionals: {
    input: requiredFlag('JSONL file of documents or passages, or a folder that data prepare wrote'),
  },
  flags: {
    output: requiredFlag('Folder of the index'),
    config: textFlag('Settings of the index (YAML: dense, chunking, text, annFrom)'),
    set: listFlag('Any of these settings, as path=value: --set chunking.tokens=128'),
    rebuild: switchFlag('Replace an index that is already there, whole or damaged'),
  },
  run: ({ input, set: sets, ...flags }, { jobs, job }) =>
    jobs.index({ ...flags, input: namedOrShipped(input), sets, ...job }),
});
