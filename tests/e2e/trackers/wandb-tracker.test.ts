import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { ReportedEvent, TrackedRun } from '#agent_rl/core/run-event.ts';
import { sidecarFile } from '#agent_rl/trackers/wandb/sidecar.ts';
import { WandbTracker } from '#agent_rl/trackers/wandb/wandb-tracker.ts';
import { describeTrackerContract } from '#tests/contracts/index.ts';
import { readJson, readLines } from '#tests/support/acme-project.ts';
import { hasPython } from '#tests/support/harness.ts';
import { killProcess, stopProcess } from '#tests/support/kill-process.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';
import { iterated, startedIn } from '#tests/support/tracked-facts.ts';

/* The sidecar is the real one; W&B's SDK is the double of tests/support/wandb. `npm run test:real` has the real SDK. */

const folder = temporaryFolder();
const { signal } = new AbortController();
const before = process.env['PYTHONPATH'];

beforeAll(() => {
  process.env['PYTHONPATH'] = join(packageRoot(), 'tests', 'support', 'wandb', 'package');
});
afterAll(() => {
  if (before === undefined) delete process.env['PYTHONPATH'];
  else process.env['PYTHONPATH'] = before;
});

const settings = { project: 'tests', mode: 'offline', python: 'python3' } as const;
const trackerWith = (more = {}) => new WandbTracker({ settings: { ...settings, ...more } });

/** What the SDK received about the run in a folder, `[what, value]` each. */
function toldTo(run: string): [string, unknown][] {
  const file = join(run, 'wandb-double.jsonl');
  if (!existsSync(file)) return [];
  return readLines(file).map((line) => Object.entries(line)[0]!);
}
const valuesOf = (run: string, what: string): unknown[] =>
  toldTo(run).flatMap(([name, value]) => (name === what ? [value] : []));

const started = (name: string, resume: Partial<TrackedRun> = {}): ReportedEvent =>
  startedIn(folder, name, resume);

async function told(facts: readonly ReportedEvent[], more = {}): Promise<string[]> {
  const tracker = trackerWith(more);
  const notes: string[] = [];
  for (const fact of facts) {
    const note = await tracker.track({ ...fact, time: 1000 }, signal);
    if (typeof note === 'string') notes.push(note);
  }
  await tracker.close();
  return notes;
}

/** Some machines have no Python, and then no W&B. */
const withPython = hasPython ? describe : describe.skip;

withPython('with a Python', () => {
  /** A name that the double misbehaves by, given to a run that has another. */
  const misbehaving = (name: string) => () => trackerWith({ name });
  describeTrackerContract('The tracker wandb', {
    plugin: WandbTracker,
    create: trackerWith,
    recorded: (run) =>
      valuesOf(run, 'log')
        .filter((row) => 'rollout/rewardMean' in (row as object))
        .map((row) => (row as { iteration: number }).iteration),
    cutOff: {
      'an SDK that does not begin the run': misbehaving('refused'),
      'a process that was killed': () => {
        const tracker = trackerWith();
        killProcess(tracker.pid);
        return tracker;
      },
      'a process that is stopped': () => {
        const tracker = trackerWith();
        stopProcess(tracker.pid);
        stopped.push(tracker);
        return tracker;
      },
    },
  });
  const stopped: WandbTracker[] = [];
  afterAll(() => {
    for (const tracker of stopped) killProcess(tracker.pid);
  });

  test('logs the settings, rows by iteration, summary and end of a run', async () => {
    const notes = await told([
      started('whole'),
      { type: 'evaluation', when: 'before', iteration: 0, metrics: { 'eval/successRate': 0.25 } },
      iterated(1, { 'train/loss': 0.1, up: Infinity, none: NaN }),
      {
        type: 'checkpoint',
        reason: 'last',
        iteration: 1,
        path: '/a/step-1',
        weightsSha256: 'c0ffee',
      },
      { type: 'summary', summary: { iterations: 1 } },
      { type: 'end', status: 'interrupted' },
    ]);
    expect(notes).toEqual([]);
    const run = join(folder, 'whole');
    const { id } = readJson(run, 'trackers', 'wandb.json');
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    const [init] = valuesOf(run, 'init');
    expect(init).toMatchObject({
      id,
      resume: 'allow',
      project: 'tests',
      entity: null,
      name: 'whole',
      mode: 'offline',
      config: { run: { seed: 1 } },
      job_type: 'rl',
    });
    expect(toldTo(run).slice(1)).toEqual([
      ['define_metric', ['iteration', null]],
      ['define_metric', ['*', 'iteration']],
      ['log', { 'eval/successRate': 0.25, iteration: 0 }],
      ['log', { 'train/loss': 0.1, up: 'inf', none: 'nan', iteration: 1 }],
      ['summary', { checkpoint: '/a/step-1', weightsSha256: 'c0ffee' }],
      ['summary', { iterations: 1 }],
      ['finish', 255],
    ]);
  });

  test('continues the same W&B run after a resume and logs nothing twice', async () => {
    await told([started('resumed'), iterated(1, { a: 1 }), iterated(2, { a: 2 })]);
    const notes = await told([
      started('resumed', { resumed: true, from: 1 }),
      iterated(2, { a: 2.5 }),
      iterated(3, { a: 3 }),
      { type: 'end', status: 'finished' },
    ]);
    const run = join(folder, 'resumed');
    const [first, again] = valuesOf(run, 'init') as { id: string }[];
    expect(again?.id).toBe(first?.id);
    expect(valuesOf(run, 'log')).toEqual([
      { a: 1, iteration: 1 },
      { a: 2, iteration: 2 },
      { a: 3, iteration: 3 },
    ]);
    // A session whose end it was not told of has failed.
    expect(valuesOf(run, 'finish')).toEqual([1, 0]);
    expect(notes).toEqual([
      'W&B keeps the first logged metrics up to iteration 2, although the run repeats iterations from 2 on',
    ]);
  });

  test('does not mistake output of the SDK for an answer', async () => {
    expect(await told([started('chatty'), iterated(1, { a: 1 })])).toEqual([]);
    expect(valuesOf(join(folder, 'chatty'), 'log')).toEqual([{ a: 1, iteration: 1 }]);
  });

  test('passes the key of W&B and no other secret', async () => {
    process.env['WANDB_TEST_KEY'] = 'a-key-of-mine';
    process.env['OTHER_SECRET'] = 'hunter2-hunter2';
    try {
      await told([started('key')], { mode: 'online', apiKeyEnv: 'WANDB_TEST_KEY' });
      const [init] = valuesOf(join(folder, 'key'), 'init') as { environment: object }[];
      expect(init?.environment).toEqual({
        WANDB_API_KEY: 'a-key-of-mine',
        WANDB_SILENT: 'true',
        WANDB_CONSOLE: 'off',
        WANDB_DISABLE_CODE: 'true',
        WANDB_DISABLE_GIT: 'true',
        WANDB_X_DISABLE_STATS: 'true',
      });
    } finally {
      delete process.env['WANDB_TEST_KEY'];
      delete process.env['OTHER_SECRET'];
    }
    const unset = thrownBy(() => trackerWith({ mode: 'online', apiKeyEnv: 'WANDB_TEST_KEY' }));
    expect(unset.message).toMatch(/WANDB_TEST_KEY, which is not set/);
  });

  test('refuses a Python without the SDK before the run and says what to install', () => {
    process.env['PYTHONPATH'] = '';
    const isolated = writeBelow(folder, 'bare-python', '#!/bin/sh\nexec python3 -I -S "$@"\n');
    try {
      chmodSync(isolated, 0o755);
      const { code, message } = thrownBy(() => trackerWith({ python: isolated }));
      expect(code).toBe('PLUGIN_LOAD_FAILED');
      expect(message).toContain(
        `${isolated} does not have the package wandb. Install wandb (${isolated} -m pip install wandb)`,
      );
    } finally {
      process.env['PYTHONPATH'] = join(packageRoot(), 'tests', 'support', 'wandb', 'package');
    }
  });
});

test('refuses a run without Python before it begins', () => {
  const { code, message } = thrownBy(() => trackerWith({ python: 'no-such-python' }));
  expect(code).toBe('PLUGIN_LOAD_FAILED');
  expect(message).toMatch(/no-such-python does not start: .*ENOENT.* set python /);
});

test("keeps the sidecar beside the package's other files", () => {
  expect(existsSync(sidecarFile())).toBe(true);
});
