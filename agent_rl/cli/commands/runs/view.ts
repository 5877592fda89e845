import { command } from '../../command.ts';
import { listFlag, numberFlag, textFlag } from '../../flags/flag.ts';

export const view = command({
  name: 'view [runs..]',
  describe: 'Show runs in the browser: metrics, episodes, tokens and what was learned of them',
  examples: [
    ['', 'All runs in runs/, also while they train'],
    ['runs/one runs/two', 'Two runs, to compare'],
    ['runs/one --export shared', 'A folder of static files, to share'],
  ],
  positionals: { runs: listFlag('Folders of runs; all in runs/ otherwise') },
  flags: {
    port: numberFlag(
      'Port; 0 takes a free one. 7410 otherwise, or a free one where that is taken',
      {
        from: 0,
        to: 65_535,
        whole: true,
      },
    ),
    host: textFlag('Address to listen on', '127.0.0.1'),
    export: textFlag('Write a static copy into this new folder instead of serving'),
  },
  run: (flags, { jobs, job }) => jobs.viewRuns({ ...flags, ...job }),
});
