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
 * `npm run bench:view -- [--episodes 10000,20000] [--json FILE]`. Each run is opened twice: without the index beside its
 * records, and with it.
 */
const { values } = parseArgs({
  options: { episodes: { type: 'string', default: '10000,20000' }, json: { type: 'string' } },
});
const sizes = wholeNumbers('episodes', values.episodes);

const machineAfter = watchMachine();
const reports: ViewReport[] = [];
await inTemporaryFolder('agent-rl-bench', async (work) => {
  for (const episodes of sizes) {
    note(`Writing a run of ${episodes} episodes`);
    const run = await writeRun(work, episodes);
    for (const cached of [false, true]) reports.push(await measureView(run, { episodes, cached }));
  }
});
const machine = machineAfter();
writeReport(values.json, { machine, reports });
const seconds = (value: number): string => fixed(value, 2);
const rows = reports.map((report) => [
  String(report.episodes),
  mebibytes(report.bytes),
  report.cached ? 'yes' : 'no',
  seconds(report.startS),
  seconds(report.firstViewS),
  seconds(report.indexedS),
  seconds(report.filterS),
  seconds(report.sortS),
  seconds(report.textS),
  seconds(report.episodeS),
  mebibytes(report.rssBytes),
]);
const titles = [
  'Episodes',
  'Records',
  'Index kept',
  'Start',
  'First view',
  'Indexed',
  'Filter',
  'Sort',
  'Text',
  'Episode',
  'RSS',
];
process.stdout.write(
  `${machineText(machine)}, seconds since the server listens\n\n${table(titles, rows)}\n`,
);
