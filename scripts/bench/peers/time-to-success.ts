import { parseArgs } from 'node:util';

import { sum } from '../../../agent_rl/algorithms/statistics.ts';
import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { table } from '../../docs/markdown.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import { machineText, note, watchMachine, wholeNumber, writeReport } from '../bench-run.ts';
import { peerAnswer, withPeerPython } from '../peers.ts';
import { codeTasksRun, type TrlAnswer, type TrlOrder, trlNeeds } from './code-tasks-run.ts';

/*
 * Seconds until a share of an iteration's training episodes is solved, ours and TRL's one after the other from the same starter
 * with the same tasks and settings, a constant rate on both sides. Compiling is counted, the start of the process is not.
 * `npm run bench:learning -- [--percent 80] [--most 40] [--seeds 7,8] [--threads 2] [--python PYTHON] [--json FILE]`. What the
 * model writes is run unconfined by TRL's process: give it no model that you do not trust.
 */
const { values } = parseArgs({
  options: {
    percent: { type: 'string', default: '80' },
    most: { type: 'string', default: '40' },
    seeds: { type: 'string', default: '7,8' },
    threads: { type: 'string', default: '2' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const until = wholeNumber('percent', values.percent) / 100;
const most = wholeNumber('most', values.most);
const threads = wholeNumber('threads', values.threads);
const seeds = values.seeds.split(',').map((seed) => wholeNumber('seeds', seed));

interface Learned {
  /** Share solved in each iteration. */
  curve: readonly number[];
  /** Up to the end of each iteration. */
  wallS: readonly number[];
}

const upTo = (seconds: readonly number[]): number[] =>
  seconds.map((_, index) => sum(seconds.slice(0, index + 1)));

const ours = (seed: number): Promise<Learned> =>
  inTemporaryFolder('agent-rl-learning', async (folder) => {
    const { metrics } = codeTasksRun({ folder, iterations: most, threads, seed });
    const of = (name: string): number[] => metrics.map((line) => line[name] ?? Number.NaN);
    return { curve: of('rollout/successRate'), wallS: upTo(of('seconds/total')) };
  });

const theirs = (python: string, seed: number): Promise<Learned & { version: string }> =>
  inTemporaryFolder('agent-rl-trl', async (folder) => {
    const order: TrlOrder = {
      root: packageRoot(),
      folder,
      threads,
      iterations: most,
      seed,
      until,
    };
    const { iterations, version } = peerAnswer(python, 'trl_iteration.py', order) as TrlAnswer;
    const curve = iterations.map(({ reward }) => reward);
    return { curve, wallS: upTo(iterations.map(({ wallS }) => wallS)), version };
  });

const reached = ({ curve, wallS }: Learned): { iteration: number; wallS: number } | undefined => {
  const at = curve.findIndex((success) => success >= until);
  return at < 0 ? undefined : { iteration: at + 1, wallS: wallS[at]! };
};
const shown = (one: Learned): string => {
  const at = reached(one);
  if (at !== undefined) return `${at.wallS.toFixed(0)} s, iteration ${at.iteration}`;
  return `not in ${one.curve.length} iterations, ${one.wallS.at(-1)!.toFixed(0)} s`;
};

const machineAfter = watchMachine();
const measured = await withPeerPython(values.python, trlNeeds, async (python) => {
  const all: { seed: number; ours: Learned; theirs: Learned & { version: string } }[] = [];
  for (const seed of seeds) {
    note(`Seed ${seed}: ours`);
    const own = await ours(seed);
    note(`Seed ${seed}: TRL, which runs what the model writes without a sandbox`);
    all.push({ seed, ours: own, theirs: await theirs(python, seed) });
  }
  return all;
});
const rows = measured.map(({ seed, ours: own, theirs: other }) => {
  const [one, two] = [reached(own), reached(other)];
  const ratio = one && two ? (two.wallS / one.wallS).toFixed(2) : '-';
  return [String(seed), shown(own), shown(other), ratio];
});
const machine = machineAfter();
process.stdout.write(
  `${machineText(machine)}, ${threads} threads; ${measured[0]!.theirs.version}; until ${values.percent} % of the 192 episodes of an iteration are solved\n\n` +
    `${table(['Seed', 'agent_rl', 'TRL', 'TRL / agent_rl'], rows)}\n`,
);
writeReport(values.json, { machine, threads, until, most, seeds: measured });
