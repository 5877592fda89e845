import { command } from '../../command.ts';
import { type Flag, listFlag, numberFlag, numberIn, textFlag } from '../../flags/flag.ts';

const episodesFlag: Flag<number | undefined> = {
  option: {
    type: 'string',
    requiresArg: true,
    describe:
      'Training episodes that an export can open: the newest so many of each run, or all, which is the default. Those of evaluations always',
  },
  read: (given, name) => {
    if (given === undefined) return undefined;
    return given === 'all'
      ? Infinity
      : numberIn({ from: 0, whole: true, orWord: 'all' }, given, name);
  },
};

export const view = command({
  name: 'view [runs..]',
  describe: 'Show runs in the browser: metrics, episodes, tokens and what was learned of them',
  examples: [
    ['', 'All runs in runs/, also while they train'],
    ['runs/one runs/two', 'Two runs, to compare'],
    ['runs/one --export shared', 'A folder of static files, to share'],
    [
      'runs/one --export shared --export-episodes 200',
      'A small one: the newest 200 episodes of training',
    ],
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
    'export-episodes': episodesFlag,
  },
  run: (flags, { jobs, job }) => jobs.viewRuns({ ...flags, ...job }),
});
