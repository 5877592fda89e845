import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { linuxRow } from '../../../agent_rl/telemetry/process-tree.ts';

/** What a run came to. */
export interface MeasuredRun {
  /** Of the trainer's own process with its threads, without those that it started. */
  cpuS: number;
  wallS: number;
  weightsSha256: string;
  trackers?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Writes the processor time of the process when it ends: its parent can only learn that of the whole tree. */
const atExit = `import { isMainThread } from 'node:worker_threads';
import { writeFileSync } from 'node:fs';
if (isMainThread) process.on('exit', () => writeFileSync(process.env.BENCH_CPU, JSON.stringify(process.cpuUsage())));`;

export interface RunToMeasure {
  /** An empty one, for everything that the run writes. */
  folder: string;
  config: string;
  /** As after --set. */
  sets: readonly string[];
  /** Called with the trainer's process once what it shows matches. */
  halfway?: { shown: RegExp; act: (pid: number) => void };
}

/** Runs a training in a process of its own. */
export async function measuredRun({ folder, config, sets, halfway }: RunToMeasure) {
  const command = path.join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
  const cpu = path.join(folder, 'cpu.json');
  const all = [...sets, 'run.name=run', `run.outputDir=${folder}`];
  const flags = all.flatMap((set) => ['--set', set]);
  const hook = `data:text/javascript,${encodeURIComponent(atExit)}`;
  const began = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', hook, command, 'train', '--config', config, ...flags],
    {
      env: { ...process.env, BENCH_CPU: cpu, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let shown = '';
  let waiting = halfway !== undefined;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    shown = (shown + text).slice(-20_000);
    if (!waiting || halfway?.shown.test(shown) !== true) return;
    waiting = false;
    halfway.act(child.pid ?? 0);
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`The run ended with ${child.exitCode}:\n${shown}`);
  if (waiting) throw new Error('The run ended before it was halfway.');
  const { user, system } = read(cpu) as { user: number; system: number };
  const { weightsSha256, trackers } = read(path.join(folder, 'run', 'summary.json')) as MeasuredRun;
  return {
    cpuS: (user + system) / 1e6,
    wallS: (performance.now() - began) / 1000,
    weightsSha256,
    ...(trackers && { trackers }),
  };
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** Ends the process of W&B's SDK that a trainer started. Linux only. */
export function killSidecar(trainer: number): void {
  const own = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => linuxRow(name))
    .filter(({ parent }) => parent === trainer);
  const sidecar = own.find(({ pid }) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sidecar.py'),
  );
  if (sidecar === undefined) throw new Error("The trainer has no process of W&B's SDK.");
  process.kill(sidecar.pid, 'SIGKILL');
}
