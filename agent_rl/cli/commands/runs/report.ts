import { reportFormats } from '../../../jobs/report/report-formats.ts';
import { command } from '../../command.ts';
import { choiceFlag, type Flag, listFlag, textFlag, textsOf } from '../../flags/flag.ts';

const runs: Flag<string[]> = {
  option: { type: 'string', array: true, demandOption: true, describe: 'Folders of runs' },
  read: textsOf,
};

export const report = command({
  name: 'report <runs..>',
  describe: 'Write what came of a run as one file: success with intervals, curves, episodes',
  examples: [
    ['runs/workspace_grpo-seed42', 'report.html in the folder of the run'],
    ['runs/my-run-seed1 runs/my-run-seed2 --out both.html', 'Two runs side by side'],
    ['runs/my-run --format svg --out curves.svg', 'The curves alone'],
  ],
  positionals: { runs },
  flags: {
    out: textFlag('File to write; report.html in the run, or beside the first of several'),
    format: choiceFlag(
      'A page, Markdown for a pull request, or a picture of the curves',
      reportFormats,
      'html',
    ),
    curves: listFlag('Draw this curve alone, as success or entropy; may be repeated'),
    controls: textFlag(
      'controls.json that "npm run bench:controls" wrote, to show beside the runs',
    ),
  },
  run: (flags, { jobs, job }) => jobs.reportRuns({ ...flags, ...job }),
});
