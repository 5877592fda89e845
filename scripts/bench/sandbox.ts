import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { messageOf } from '../../agent_rl/core/errors.ts';
import type { RunResult, Sandbox } from '../../agent_rl/core/services/sandbox.ts';
import { startBackend, type SandboxTier } from '../../agent_rl/sandbox/choose-backend.ts';
import { behindLayers } from '../../agent_rl/sandbox/open-sandbox.ts';
import { treeUse } from './sandbox/process-tree.ts';
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
const countOf = (name: 'rounds' | 'runs' | 'soak'): number => {
  const count = Number(values[name]);
  if (Number.isInteger(count) && count >= 0) return count;
  throw new TypeError(`--${name} ${values[name]}: expected a whole number.`);
};
const [rounds, runs, soak] = [countOf('rounds'), countOf('runs'), countOf('soak')];
const callerCounts = [1, 2, 4, 8];
const code = 'print(sum(range(1000)))';
const note = (text: string): void => void process.stderr.write(`${text}\n`);

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

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

/** Each of the four ways to ask, for one caller: the median in milliseconds. */
async function waysOf(sandbox: Sandbox): Promise<Record<string, number>> {
  const f = 'def f(x): return x * x + 1';
  const session = sandbox.openSession({ totalWallS: 3600 });
  const ways = {
    run: () => expectOk(sandbox.execute({ kind: 'run', code })),
    calls: () =>
      expectOk(sandbox.execute({ kind: 'calls', code: f, entry: 'f', args: [[1], [2], [3]] })),
    judge: () =>
      expectOk(
        sandbox.execute({ kind: 'judge', code: f, tests: { statements: ['assert f(2) == 5'] } }),
      ),
    session: () => expectOk(session.run({ code })),
  };
  const found: Record<string, number> = {};
  for (const [name, ask] of Object.entries(ways)) {
    const warm = await runCallers(ask, { callers: 1, runs: 20 }).then(() =>
      runCallers(ask, { callers: 1, runs: 100 }),
    );
    found[name] = warm.medianMs;
  }
  await session.close();
  return found;
}

async function soaked(
  sandbox: Sandbox,
): Promise<Record<'before' | 'after', ReturnType<typeof treeUse>>> {
  const ask = () => expectOk(sandbox.execute({ kind: 'run', code }));
  // What is taken once, such as buffers and libraries, is taken by then.
  await runCallers(ask, { callers: 4, runs: 300 });
  await wait(500);
  const before = treeUse();
  await runCallers(ask, { callers: 4, runs: soak });
  await wait(500);
  return { before, after: treeUse() };
}

const sandboxes = new Map<string, Sandbox>();
for (const tier of values.backends.split(',') as SandboxTier[]) {
  try {
    const workers = availableParallelism();
    // As in a run: so many at once as there are processors, the others wait.
    sandboxes.set(
      tier,
      behindLayers(await startBackend(tier, { type: tier, workers }), { workers: 2 * workers }),
    );
  } catch (error) {
    note(`${tier} left out: ${messageOf(error)}`);
  }
}
const asks = new Map<string, () => Promise<unknown>>([
  ['bare python3', bare],
  ...[...sandboxes].map(
    ([tier, sandbox]) => [tier, () => expectOk(sandbox.execute({ kind: 'run', code }))] as const,
  ),
]);
const loadBefore = loadavg()[0] ?? 0;
const measured = new Map<string, CallerResult[][]>();
try {
  for (const ask of asks.values()) await runCallers(ask, { callers: 2, runs: 20 });
  for (let round = 0; round < rounds; round++) {
    for (const callers of callerCounts) {
      for (const [name, ask] of asks) {
        const result = await runCallers(ask, { callers, runs });
        const all = measured.get(name) ?? [];
        all[round] = [...(all[round] ?? []), result];
        measured.set(name, all);
      }
    }
    note(`Round ${round + 1} of ${rounds}`);
  }
  const speed = Object.fromEntries(
    [...measured].map(([name, all]) => [
      name,
      callerCounts.map((_, i) => medianResult(all.flatMap((round) => round[i] ?? []))),
    ]),
  );
  const ways: Record<string, Record<string, number>> = {};
  const soaks: Record<string, Awaited<ReturnType<typeof soaked>>> = {};
  for (const [tier, sandbox] of sandboxes) {
    ways[tier] = await waysOf(sandbox);
    if (soak > 0 && process.platform === 'linux') soaks[tier] = await soaked(sandbox);
  }
  const ratios = Object.fromEntries(
    [...sandboxes.keys()].map((tier) => [
      tier,
      callerCounts.map((callers, i) => ({
        callers,
        overBare: median(
          (measured.get(tier) ?? []).map(
            (round, r) =>
              (round[i]?.perSecond ?? Number.NaN) /
              (measured.get('bare python3')?.[r]?.[i]?.perSecond ?? Number.NaN),
          ),
        ),
      })),
    ]),
  );
  const report = {
    machine: {
      processor: cpus()[0]?.model,
      processors: availableParallelism(),
      node: process.versions.node,
      loadBefore,
      loadAfter: loadavg()[0],
    },
    rounds,
    runs,
    soak,
    speed,
    ratios,
    ways,
    soaks,
  };
  show();
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 1)}\n`);

  function show(): void {
    note(
      `${report.machine.processor}, ${report.machine.processors} processors, load ${loadBefore.toFixed(2)}`,
    );
    note(`| backend | callers | programs/s | median ms | p95 ms | over bare python3 |`);
    note(`| --- | --- | --- | --- | --- | --- |`);
    for (const [name, results] of Object.entries(speed)) {
      for (const [i, { callers, perSecond, medianMs, p95Ms }] of results.entries()) {
        const ratio = ratios[name]?.[i]?.overBare.toFixed(2) ?? '1';
        note(
          `| ${name} | ${callers} | ${perSecond.toFixed(0)} | ${medianMs.toFixed(1)} | ${p95Ms.toFixed(1)} | ${ratio} |`,
        );
      }
    }
    for (const [tier, found] of Object.entries(ways)) {
      const text = Object.entries(found).map(([way, ms]) => `${way} ${ms.toFixed(1)}`);
      note(`${tier}, median ms of one caller: ${text.join(', ')}`);
    }
    for (const [tier, { before, after }] of Object.entries(soaks)) {
      note(
        `${tier}, ${soak} programs by 4 callers: processes ${before.processes} -> ${after.processes}, descriptors ` +
          `${before.descriptors} -> ${after.descriptors}, resident ${mib(before.rssBytes)} -> ${mib(after.rssBytes)} MiB`,
      );
    }
  }
} finally {
  for (const sandbox of sandboxes.values()) await sandbox.close();
}
