import { reportFormats } from '../../../jobs/report/report-formats.ts';
import { command } from '../../command.ts';
import { choiceFlag, type Flag, listFlag, textFlag, textsOf } from '../../flags/flag.ts';

const runs: Flag<string[]> = {
  option: { type: 'string', array: true, demandOption: true, describe: 'Folders of runs' },
  read: textsOf,
};

export const report = command({
  name: 'report <runs..>',
  describe: 'Write a report of one or more runs: success with intervals, curves, episodes',
  examples: [
    ['runs/workspace_grpo-seed42', 'Write report.html to the run folder'],
    ['runs/my-run-seed1 runs/my-run-seed2 --out both.html', 'Report on two runs side by side'],
    ['runs/my-run --format svg --out curves.svg', 'Write only the curves'],
  ],
  positionals: { runs },
  flags: {
    out: textFlag(
      'File to write (default: report.html in the run folder, or next to the first of several runs)',
    ),
    format: choiceFlag(
      'html: a page; md: Markdown for a pull request; svg: a picture of the curves',
      reportFormats,
      'html',
    ),
    curves: listFlag('Draw only this curve, such as success or entropy; may be repeated'),
    controls: textFlag(
      'controls.json written by "npm run bench:controls", to show next to the runs',
    ),
  },
  run: (flags, { jobs, job }) => jobs.reportRuns({ ...flags, ...job }),
});
