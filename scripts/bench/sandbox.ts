import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { messageOf } from '../../agent_rl/core/errors.ts';
import type { RunResult, Sandbox } from '../../agent_rl/core/services/sandbox.ts';
import { startBackend, type SandboxTier } from '../../agent_rl/sandbox/choose-backend.ts';
import { behindLayers } from '../../agent_rl/sandbox/open-sandbox.ts';
import { note, watchMachine, wholeNumber, writeReport } from './bench-run.ts';
import { treeUse } from './sandbox/process-tree.ts';
import { type SandboxReport, sandboxText } from './sandbox/report.ts';
import { medianResult, runCallers, type CallerResult } from './sandbox/run-callers.ts';
import { median } from './statistics.ts';

/*
 * How fast untrusted programs are run, beside a bare `python3` that is started for each:
 * `npm run bench:sandbox -- [--rounds N] [--runs N] [--soak N] [--backends native:ns,native:lite,pyodide] [--json FILE]`.
 * Backends take turns within each round, so that a busy machine is busy for all; numbers are medians over rounds.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '200' },
    soak: { type: 'string', default: '3000' },
    backends: { type: 'string', default: 'native:ns,native:lite,pyodide' },
    python: { type: 'string', default: '/usr/bin/python3' },
    json: { type: 'string' },
  },
});
const rounds = wholeNumber('rounds', values.rounds);
const runs = wholeNumber('runs', values.runs);
const soak = wholeNumber('soak', values.soak, 0);
const callerCounts = [1, 2, 4, 8];
const code = 'print(sum(range(1000)))';

/** The python that has no walls at all. */
async function bare(): Promise<void> {
  const child = spawn(values.python, ['-c', code], { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  await once(child, 'close');
}

async function expectOk(running: Promise<RunResult>): Promise<void> {
  const { status, message } = await running;
  if (status !== 'ok') throw new Error(`A program ended as ${status}: ${message ?? ''}`);
}

const runIn = (sandbox: Sandbox) => () => expectOk(sandbox.execute({ kind: 'run', code }));

/** Each of the four ways to ask, for one caller: the median in milliseconds. */
async function waysOf(sandbox: Sandbox): Promise<Record<string, number>> {
  const f = 'def f(x): return x * x + 1';
  const calls = { kind: 'calls', code: f, entry: 'f', args: [[1], [2], [3]] } as const;
  const judge = { kind: 'judge', code: f, tests: { statements: ['assert f(2) == 5'] } } as const;
  const session = sandbox.openSession({ totalWallS: 3600 });
  const ways = {
    run: runIn(sandbox),
    calls: () => expectOk(sandbox.execute(calls)),
    judge: () => expectOk(sandbox.execute(judge)),
    session: () => expectOk(session.run({ code })),
  };
  const found: Record<string, number> = {};
  for (const [name, ask] of Object.entries(ways)) {
    await runCallers(ask, { callers: 1, runs: 20 });
    found[name] = (await runCallers(ask, { callers: 1, runs: 100 })).medianMs;
  }
  await session.close();
  return found;
}

async function soaked(sandbox: Sandbox): Promise<SandboxReport['soaks'][string]> {
  const useAfter = async (programs: number) => {
    await runCallers(runIn(sandbox), { callers: 4, runs: programs });
    await wait(500);
    return treeUse();
  };
  // What is taken once, such as buffers and libraries, is taken before.
  return { before: await useAfter(300), after: await useAfter(soak) };
}

const sandboxes = new Map<string, Sandbox>();
for (const tier of values.backends.split(',') as SandboxTier[]) {
  try {
    const workers = availableParallelism();
    // As in a run: as many at once as there are processors, the others wait.
    const backend = await startBackend(tier, { type: tier, workers });
    sandboxes.set(tier, behindLayers(backend, { workers: 2 * workers }));
  } catch (error) {
    note(`Skipping ${tier}: ${messageOf(error)}`);
  }
}
const bareName = 'bare python3';
const asks = new Map<string, () => Promise<unknown>>([[bareName, bare]]);
for (const [tier, sandbox] of sandboxes) asks.set(tier, runIn(sandbox));

/** By name, number of callers and round. */
const measured = new Map<string, CallerResult[][]>(
  [...asks.keys()].map((name) => [name, callerCounts.map(() => [])]),
);
const machineAfter = watchMachine();
try {
  for (const ask of asks.values()) await runCallers(ask, { callers: 2, runs: 20 });
  for (let round = 0; round < rounds; round++) {
    for (const [i, callers] of callerCounts.entries()) {
      for (const [name, ask] of asks) {
        measured.get(name)![i]!.push(await runCallers(ask, { callers, runs }));
      }
    }
    note(`Round ${round + 1} of ${rounds}`);
  }
  /** Programs a second against the bare python's, round by round. */
  const overBare = (name: string, i: number): number => {
    const bareRounds = measured.get(bareName)![i]!;
    const own = measured.get(name)![i]!;
    return median(own.map(({ perSecond }, r) => perSecond / bareRounds[r]!.perSecond));
  };
  const ways: SandboxReport['ways'] = {};
  const soaks: SandboxReport['soaks'] = {};
  for (const [tier, sandbox] of sandboxes) {
    ways[tier] = await waysOf(sandbox);
    if (soak > 0 && process.platform === 'linux') soaks[tier] = await soaked(sandbox);
  }
  const report: SandboxReport = {
    machine: machineAfter(),
    rounds,
    runs,
    soak,
    speed: Object.fromEntries([...measured].map(([name, all]) => [name, all.map(medianResult)])),
    ratios: Object.fromEntries(
      [...sandboxes.keys()].map((tier) => [
        tier,
        callerCounts.map((callers, i) => ({ callers, overBare: overBare(tier, i) })),
      ]),
    ),
    ways,
    soaks,
  };
  note(sandboxText(report));
  writeReport(values.json, report);
} finally {
  for (const sandbox of sandboxes.values()) await sandbox.close();
}
