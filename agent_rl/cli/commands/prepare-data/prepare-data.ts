import type { Command } from '../../command.ts';
import { printer, writeJson } from '../../io.ts';
import { prepareDataFlags } from './prepare-data-flags.ts';

export const prepareDataCommand: Command = {
  name: 'prepare-data <source>',
  describe: 'Make documents, passages and questions with a split from a dataset or a list of pages',
  examples: [
    ['my_questions.jsonl --output prepared --column question=query', 'From a file of your own'],
    ['hotpotqa/hotpot_qa --hub-config distractor --output hotpot', 'From a dataset on the hub'],
    [
      'pages.csv --format urls --crawl --contact you@example.org --output pages',
      'From pages on the web',
    ],
  ],
  positionals: {
    source: {
      type: 'string',
      demandOption: true,
      describe: 'File, folder, or dataset on the Hugging Face hub as owner/name',
    },
  },
  options: prepareDataFlags,
  renamed: { 'output-dir': 'output' },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    // Late: the formats bring readers of XML and Parquet, which no help needs.
    const { settingsOf } = await import('./prepare-data-settings.ts');
    const options = { signal: io.signal, print: printer(io, json) };
    const report = await jobs.prepareData({ ...settingsOf(parsed), ...options });
    if (json) writeJson(io, report);
    return 0;
  },
};
