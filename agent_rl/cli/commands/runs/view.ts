import { command } from '../../command.ts';
import { type Flag, listFlag, numberFlag, numberIn, textFlag } from '../../flags/flag.ts';

const episodesFlag: Flag<number | undefined> = {
  option: {
    type: 'string',
    requiresArg: true,
    describe:
      'Training episodes of each run to export in full, newest first: a number, or all (default: all). Evaluation episodes are always exported in full',
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
  describe: 'Show runs in the browser: metrics, episodes, tokens and their advantages',
  examples: [
    ['', 'Show all runs in runs/, also during training'],
    ['runs/one runs/two', 'Compare two runs'],
    ['runs/one --export shared', 'Write static files to share'],
    [
      'runs/one --export shared --export-episodes 200',
      'Export only the newest 200 training episodes',
    ],
  ],
  positionals: { runs: listFlag('Folders of runs (default: all in runs/)') },
  flags: {
    port: numberFlag('Port; 0 takes a free one (default: 7410, or a free one if 7410 is in use)', {
      from: 0,
      to: 65_535,
      whole: true,
    }),
    host: textFlag('Address to listen on', '127.0.0.1'),
    export: textFlag('Write a static copy into this new folder instead of serving'),
    'export-episodes': episodesFlag,
  },
  run: (flags, { jobs, job }) => jobs.viewRuns({ ...flags, ...job }),
});
