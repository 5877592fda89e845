import { parseArgs } from 'node:util';

import { mean, sum } from '../../../agent_rl/algorithms/statistics.ts';
import { table } from '../../docs/markdown.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import {
  fixed,
  machineText,
  note,
  spread,
  watchMachine,
  wholeNumber,
  wholeNumbers,
  writeReport,
} from '../bench-run.ts';
import { peerAnswer, withPeerPython } from '../peers.ts';
import {
  jobNamed,
  type PeerJob,
  requireModel,
  runOfOurs,
  type TrlAnswer,
  trlNeeds,
  trlOrder,
} from './peer-job.ts';

/*
 * Whole iterations of a job, ours and TRL's alternately, each in a process of its own, from the same model with the same tasks and
 * settings: `npm run bench:iteration -- [--job smollm2] [--model FOLDER] [--tasks N] [--group N] [--system TEXT]
 * [--sequences 4,8] [--iterations 2] [--rounds 2] [--threads 2] [--python PYTHON] [--json FILE]`.
 *
 * `--sequences` is what TRL trains at once; the setting that takes least time for its tokens is compared. `smollm2` is the recipe's
 * model after supervised training (`npm run recipe:smollm2`), `code-tasks` the starter. Our programs run in the sandbox, TRL's inside
 * its process. The first iteration, which compiles, is not counted. What the model writes is run unconfined by TRL's process: give it
 * no model that you do not trust.
 */
const { values } = parseArgs({
  options: {
    job: { type: 'string', default: 'smollm2' },
    model: { type: 'string' },
    tasks: { type: 'string' },
    group: { type: 'string' },
    system: { type: 'string' },
    sequences: { type: 'string' },
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
const chosen = jobNamed(values.job);
const { name } = chosen;
const numberOr = (flag: 'tasks' | 'group'): number =>
  wholeNumber(flag, values[flag] ?? String(chosen[flag]));
const job: PeerJob = {
  ...chosen,
  model: values.model ?? chosen.model,
  tasks: numberOr('tasks'),
  group: numberOr('group'),
  system: values.system,
};
const sequencesTried = wholeNumbers(
  'sequences',
  values.sequences ?? (name === 'smollm2' ? '4,8' : '16'),
);
requireModel(job);
const episodes = job.tasks * job.group;
if (sequencesTried.length === 0 || sequencesTried.some((count) => episodes % count > 0)) {
  throw new TypeError(
    `--sequences ${values.sequences}: expected numbers that divide the ${episodes} episodes of an iteration.`,
  );
}

/** Totals of the iterations after the first. */
interface Measured {
  wallS: number;
  cpuS: number;
  sampledTokens: number;
  peakBytes: number;
  /** Nats a sampled token. */
  entropy: number;
}

interface Ours extends Measured {
  /** Of the tokens that rows hold, those that were taken from a sibling with the same context, over the whole run. */
  sharedShare: number;
}

interface Theirs extends Measured {
  version: string;
  sequences: number;
}

/** Processor seconds of a run, minus the seconds of a run that ends after the first iteration: both start alike. */
const ours = (): Promise<Ours> =>
  inTemporaryFolder('agent-rl-iteration', async (folder) => {
    const size = { folder, threads, seed };
    const first = runOfOurs(job, { ...size, iterations: 1 });
    const { summary, metrics } = runOfOurs(job, { ...size, iterations: 1 + iterations });
    const later = metrics.slice(1);
    const valuesOf = (metric: string) => later.map((line) => line[metric] ?? Number.NaN);
    const { fedTokens, prefilledTokens, sharedTokens } = summary.generation;
    return {
      wallS: sum(valuesOf('seconds/total')),
      cpuS: summary.cpuSeconds - first.summary.cpuSeconds,
      sampledTokens: sum(valuesOf('rollout/sampledTokens')),
      peakBytes: summary.peakRssBytes,
      entropy: mean(valuesOf('rollout/entropyEstimate')),
      sharedShare: sharedTokens / (sharedTokens + fedTokens + prefilledTokens),
    };
  });

const theirs = (python: string, sequences: number): Promise<Theirs> =>
  inTemporaryFolder('agent-rl-trl', async (folder) => {
    const size = { folder, threads, iterations: 1 + iterations, seed };
    const order = trlOrder(job, { ...size, sequences });
    const answer = peerAnswer(python, 'trl_iteration.py', order) as TrlAnswer;
    const later = answer.iterations.slice(1);
    const total = (of: 'wallS' | 'cpuS' | 'sampledTokens') =>
      sum(later.map((iteration) => iteration[of]));
    return {
      wallS: total('wallS'),
      cpuS: total('cpuS'),
      sampledTokens: total('sampledTokens'),
      peakBytes: answer.peakBytes,
      entropy: mean(later.map(({ entropy }) => entropy)),
      version: answer.version,
      sequences,
    };
  });

const perThousand = (of: Measured, seconds: number): number => (1000 * seconds) / of.sampledTokens;

const machineAfter = watchMachine();
const measured = await withPeerPython(values.python, trlNeeds, async (python) => {
  const all: { ours: Ours; theirs: Theirs[] }[] = [];
  for (let round = 1; round <= rounds; round++) {
    note(`Round ${round} of ${rounds}: ours`);
    const own = await ours();
    note(`  ${JSON.stringify(own)}`);
    const others: Theirs[] = [];
    for (const sequences of sequencesTried) {
      note(
        `Round ${round} of ${rounds}: TRL, ${sequences} sequences at once (its tools run without a sandbox)`,
      );
      const other = await theirs(python, sequences);
      note(`  ${JSON.stringify(other)}`);
      others.push(other);
    }
    all.push({ ours: own, theirs: others });
  }
  return all;
});

/** TRL at the setting that takes least time for its tokens, in each round. */
const best = ({ theirs: tried }: (typeof measured)[number]): Theirs =>
  tried.toSorted((a, b) => perThousand(a, a.wallS) - perThousand(b, b.wallS))[0]!;

const rowOf = (title: string, digits: number, of: (one: Measured) => number): string[] => {
  const own = measured.map((round) => of(round.ours));
  const tried = sequencesTried.map((_, at) => measured.map((round) => of(round.theirs[at]!)));
  const ratios = measured.map((round) => of(best(round)) / of(round.ours));
  return [title, ...[own, ...tried].map((numbers) => spread(numbers, digits)), spread(ratios, 2)];
};
const rows = [
  rowOf('Iteration, s', 1, ({ wallS }) => wallS / iterations),
  rowOf('Iteration, processor s', 1, ({ cpuS }) => cpuS / iterations),
  rowOf('1,000 sampled tokens, s', 1, (one) => perThousand(one, one.wallS)),
  rowOf('1,000 sampled tokens, processor s', 1, (one) => perThousand(one, one.cpuS)),
  rowOf('Peak memory, GB', 2, ({ peakBytes }) => peakBytes / 1e9),
  rowOf('Sampled tokens of an iteration', 0, ({ sampledTokens }) => sampledTokens / iterations),
  rowOf('Entropy, nats a sampled token', 2, ({ entropy }) => entropy),
];
const machine = machineAfter();
const shared = measured.map((round) => 100 * round.ours.sharedShare);
process.stdout.write(
  `${machineText(machine)}, ${threads} threads; ${measured[0]!.theirs[0]!.version}; ${name}, ${job.tasks} x ${job.group}, ` +
    `${rounds} rounds of ${iterations} iterations; of the tokens in our rows ${spread(shared, 0)} % came from a sibling\n\n` +
    `${table(['', 'agent_rl', ...sequencesTried.map((count) => `TRL, ${fixed(count)} at once`), 'TRL at its best / agent_rl'], rows)}\n`,
);
writeReport(values.json, { machine, threads, job, iterations, rounds: measured });
