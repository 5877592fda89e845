import { command } from '../../command.ts';
import { requiredFlag } from '../../flags/flag.ts';
import { prepareDataFlags } from './prepare-data-flags.ts';

export const prepareDataCommand = command({
  name: 'prepare <source>',
  describe: 'Create documents, passages and question splits from a dataset or a list of web pages',
  examples: [
    ['my_questions.jsonl --output prepared --column question=query', 'From your own file'],
    ['hotpotqa/hotpot_qa --hub-config distractor --output hotpot', 'From a dataset on the hub'],
    ['pages.csv --format urls --crawl --contact you@example.org --output pages', 'From web pages'],
  ],
  positionals: {
    source: requiredFlag('File, folder, or dataset on the Hugging Face hub as owner/name'),
  },
  flags: prepareDataFlags,
  run: async ({ source, ...flags }, { jobs, job }) => {
    // Late: the formats bring readers of XML and Parquet, which no help needs.
    const { settingsOf } = await import('./prepare-data-settings.ts');
    return jobs.prepareData({ ...settingsOf(flags), source, ...job });
  },
});
