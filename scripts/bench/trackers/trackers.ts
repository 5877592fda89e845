import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import {
  fixed,
  machineText,
  note,
  spread,
  watchMachine,
  wholeNumber,
  writeReport,
} from '../bench-run.ts';
import { withPeerPython } from '../peers.ts';
import { killSidecar, type MeasuredRun, measuredRun } from './measured-run.ts';
import { startMlflow } from './mlflow-server.ts';

/*
 * What trackers cost a run: the same run by turns without any, with all of them, and with all of them whose servers are
 * killed halfway. `npm run bench:trackers -- [--iterations 20] [--rounds 5] [--config FILE] [--python PYTHON] [--json FILE]`.
 * Processor seconds are those of the trainer's own process. A Python without mlflow and wandb gets both from PyPI, in an
 * environment that is thrown away. Linux only.
 */
const { values } = parseArgs({
  options: {
    iterations: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '5' },
    config: {
      type: 'string',
      default: path.join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const iterations = wholeNumber('iterations', values.iterations, 2);
const rounds = wholeNumber('rounds', values.rounds);
const needs = { modules: ['mlflow', 'wandb'], packages: ['mlflow==3.17.2', 'wandb==0.31.0'] };
const kinds = ['none', 'all', 'killed'] as const;
type Kind = (typeof kinds)[number];

const trackersAt = (url: string, python: string): string =>
  JSON.stringify([
    { type: 'tensorboard' },
    { type: 'mlflow', url },
    { type: 'wandb', mode: 'offline', python },
  ]);

/** One run, with a server of its own where it has trackers. */
const run = (kind: Kind, python: string): Promise<MeasuredRun> =>
  inTemporaryFolder('agent-rl-trackers', async (folder) => {
    const own = path.join(folder, 'runs');
    mkdirSync(own);
    const { config } = values;
    const sets = [`train.iterations=${iterations}`];
    if (kind === 'none')
      return measuredRun({ folder: own, config, sets: [...sets, 'trackers=[]'] });
    const server = await startMlflow(python, folder);
    try {
      const halfway = {
        shown: new RegExp(`train ${Math.ceil(iterations / 2)}/${iterations}`),
        act: (pid: number) => {
          server.kill();
          killSidecar(pid);
        },
      };
      return await measuredRun({
        folder: own,
        config,
        sets: [...sets, `trackers=${trackersAt(server.url, python)}`],
        ...(kind === 'killed' && { halfway }),
      });
    } finally {
      server.kill();
    }
  });

await withPeerPython(values.python, needs, async (python) => {
  const machine = watchMachine();
  const results: Record<Kind, MeasuredRun>[] = [];
  for (let round = 0; round < rounds; round++) {
    const measured = {} as Record<Kind, MeasuredRun>;
    // By turns, each first in some rounds: what a machine does meanwhile then hits all.
    for (const index of kinds.keys()) {
      const kind = kinds[(index + round) % kinds.length]!;
      measured[kind] = await run(kind, python);
      note(`round ${round + 1}, ${kind}: ${fixed(measured[kind].cpuS, 2)} processor seconds`);
    }
    results.push(measured);
  }
  const hashes = new Set(results.flatMap((of) => kinds.map((kind) => of[kind].weightsSha256)));
  const ratios = (kind: Kind, what: 'cpuS' | 'wallS') =>
    results.map((of) => of[kind][what] / of.none[what]);
  for (const kind of ['all', 'killed'] as const)
    note(
      `${kind} by none: processor ${spread(ratios(kind, 'cpuS'), 3, ' x')}, wall ${spread(ratios(kind, 'wallS'), 3, ' x')}`,
    );
  note(
    `none: processor ${spread(
      results.map(({ none }) => none.cpuS),
      2,
      ' s',
    )}; killed: ${JSON.stringify(results[0]?.killed.trackers)}`,
  );
  const seen = machine();
  note(machineText(seen));
  writeReport(values.json, { iterations, config: values.config, machine: seen, results });
  if (hashes.size !== 1) throw new Error(`The weights are not the same: ${[...hashes].join(', ')}`);
  note('The weights are the same in all runs.');
});
