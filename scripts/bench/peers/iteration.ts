import { parseArgs } from 'node:util';

import { sum } from '../../../agent_rl/algorithms/statistics.ts';
import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { table } from '../../docs/markdown.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import { machineText, note, spread, watchMachine, wholeNumber, writeReport } from '../bench-run.ts';
import { peerAnswer, withPeerPython } from '../peers.ts';
import { codeTasksRun, type TrlAnswer, type TrlOrder, trlNeeds } from './code-tasks-run.ts';

/*
 * Whole iterations of the code tasks, ours and TRL's alternately, each in a process of its own: 24 tasks, 8 episodes of each,
 * the same starter and settings. `npm run bench:iteration -- [--iterations 2] [--rounds 2] [--threads 2] [--python PYTHON]
 * [--json FILE]`. Our programs run in the sandbox, TRL's inside its process. The first iteration, which compiles, is not
 * counted. What the model writes is run unconfined by TRL's process: give it no model that you do not trust.
 */
const { values } = parseArgs({
  options: {
    iterations: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '2' },
    threads: { type: 'string', default: '2' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const iterations = wholeNumber('iterations', values.iterations);
const rounds = wholeNumber('rounds', values.rounds);
const threads = wholeNumber('threads', values.threads);
const seed = 7;

/** Totals of the iterations after the first. */
interface Measured {
  wallS: number;
  cpuS: number;
  sampledTokens: number;
  peakBytes: number;
}

/** Processor seconds of a run, minus the seconds of a run that ends after the first iteration: both start alike. */
const ours = (): Promise<Measured> =>
  inTemporaryFolder('agent-rl-iteration', async (folder) => {
    const first = codeTasksRun({ folder, iterations: 1, threads, seed });
    const { summary, metrics } = codeTasksRun({
      folder,
      iterations: 1 + iterations,
      threads,
      seed,
    });
    const later = metrics.slice(1);
    const total = (name: string): number => sum(later.map((line) => line[name] ?? Number.NaN));
    return {
      wallS: total('seconds/total'),
      cpuS: summary.cpuSeconds - first.summary.cpuSeconds,
      sampledTokens: total('rollout/sampledTokens'),
      peakBytes: summary.peakRssBytes,
    };
  });

const theirs = (python: string): Promise<Measured & { version: string }> =>
  inTemporaryFolder('agent-rl-trl', async (folder) => {
    const order: TrlOrder = {
      root: packageRoot(),
      folder,
      threads,
      iterations: 1 + iterations,
      seed,
    };
    const answer = peerAnswer(python, 'trl_iteration.py', order) as TrlAnswer;
    const later = answer.iterations.slice(1);
    const total = (name: 'wallS' | 'cpuS' | 'sampledTokens') =>
      sum(later.map((iteration) => iteration[name]));
    return {
      wallS: total('wallS'),
      cpuS: total('cpuS'),
      sampledTokens: total('sampledTokens'),
      peakBytes: answer.peakBytes,
      version: answer.version,
    };
  });

const machineAfter = watchMachine();
const measured = await withPeerPython(values.python, trlNeeds, async (python) => {
  const all: { ours: Measured; theirs: Measured & { version: string } }[] = [];
  for (let round = 1; round <= rounds; round++) {
    note(`Round ${round} of ${rounds}: ours`);
    const own = await ours();
    note(`Round ${round} of ${rounds}: TRL (runs the model's programs without a sandbox)`);
    all.push({ ours: own, theirs: await theirs(python) });
  }
  return all;
});

const perThousand = (of: Measured, seconds: number): number => (1000 * seconds) / of.sampledTokens;
const rowOf = (name: string, digits: number, of: (one: Measured) => number): string[] => {
  const pairs = measured.map((round) => [of(round.ours), of(round.theirs)] as const);
  const columns = [0, 1].map((side) =>
    spread(
      pairs.map((pair) => pair[side]!),
      digits,
    ),
  );
  const ratios = pairs.map(([own, other]) => other / own);
  return [name, ...columns, spread(ratios, 2)];
};
const rows = [
  rowOf('Iteration, s', 1, ({ wallS }) => wallS / iterations),
  rowOf('Iteration, processor s', 1, ({ cpuS }) => cpuS / iterations),
  rowOf('1,000 sampled tokens, s', 3, (one) => perThousand(one, one.wallS)),
  rowOf('1,000 sampled tokens, processor s', 3, (one) => perThousand(one, one.cpuS)),
  rowOf('Peak memory, GB', 2, ({ peakBytes }) => peakBytes / 1e9),
];
const machine = machineAfter();
process.stdout.write(
  `${machineText(machine)}, ${threads} threads; ${measured[0]!.theirs.version}; ${rounds} rounds of ${iterations} iterations\n\n` +
    `${table(['', 'agent_rl', 'TRL', 'TRL / agent_rl'], rows)}\n`,
);
writeReport(values.json, { machine, threads, iterations, rounds: measured });
