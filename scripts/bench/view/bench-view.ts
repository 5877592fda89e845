import { parseArgs } from 'node:util';

import { table } from '../../docs/markdown.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import {
  fixed,
  machineText,
  mebibytes,
  note,
  watchMachine,
  wholeNumbers,
  writeReport,
} from '../bench-run.ts';
import { measureView, type ViewReport } from './measure-view.ts';
import { writeRun } from './write-run.ts';

/*
 * How fast `agent-rl view` opens a run and finds episodes in it, and what memory its server has:
 * `npm run bench:view -- [--episodes 10000,20000] [--chromium /usr/bin/chromium] [--json FILE]`; with a browser also the page
 * is measured.
 */
const { values } = parseArgs({
  options: {
    episodes: { type: 'string', default: '10000,20000' },
    chromium: { type: 'string' },
    json: { type: 'string' },
  },
});
const sizes = wholeNumbers('episodes', values.episodes);

const machineAfter = watchMachine();
const reports: ViewReport[] = [];
await inTemporaryFolder('agent-rl-bench', async (work) => {
  for (const episodes of sizes) {
    note(`Writing a run of ${episodes} episodes`);
    const run = await writeRun(work, episodes);
    reports.push(await measureView(run, { episodes, chromium: values.chromium }));
  }
});
const machine = machineAfter();
writeReport(values.json, { machine, reports });
const seconds = (value: number): string => fixed(value, 2);
const ofTab = ({ tab }: ViewReport): string[] =>
  tab === undefined
    ? []
    : [
        seconds(tab.firstRowsS),
        seconds(tab.filterS),
        mebibytes(tab.heapBytes),
        mebibytes(tab.rssBytes),
      ];
const rows = reports.map((report) =>
  [
    String(report.episodes),
    mebibytes(report.bytes),
    seconds(report.startS),
    seconds(report.firstViewS),
    seconds(report.indexedS),
    seconds(report.filterS),
    seconds(report.sortS),
    seconds(report.textS),
    seconds(report.episodeS),
    mebibytes(report.rssBytes),
  ].concat(ofTab(report)),
);
const titles = [
  'Episodes',
  'Records',
  'Start',
  'First view',
  'Indexed',
  'Filter',
  'Sort',
  'Text',
  'Episode',
  'RSS',
  ...(values.chromium === undefined ? [] : ['Tab: rows', 'Tab: filter', 'Tab: heap', 'Tab: RSS']),
];
process.stdout.write(
  `${machineText(machine)}, seconds since the server listens\n\n${table(titles, rows)}\n`,
);
