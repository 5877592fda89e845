import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { type Tracker, trackers } from '../../agent_rl/core/plugins/tracker.ts';
import type { ReportedEvent, RunEvent, TrackedRun } from '../../agent_rl/core/run-event.ts';
import { RunTrackers } from '../../agent_rl/runs/trackers/run-trackers.ts';
import { expectSpec, frozen } from './contract-parts.ts';

export interface TrackerContract {
  /** The function or class that carries the mark. */
  plugin: unknown;
  /** Makes one as each session of a run does; of a function, `{ track: (event, signal) => plugin(event, settings, signal) }`. */
  create: () => Tracker;
  /**
   * The iterations it has recorded of the run in a folder, read from where it took them. Without it nothing is said of
   * what is recorded.
   */
  recorded?: (folder: string) => readonly number[] | Promise<readonly number[]>;
  /** Make one that cannot record: its server is gone, or never answers. By what is wrong. */
  cutOff?: Readonly<Record<string, () => Tracker>>;
}

const { signal } = new AbortController();

const start = (folder: string, resume: Partial<TrackedRun> = {}): ReportedEvent => {
  const config = { run: { name: 'contract', seed: 1 }, tools: [{ type: 'calculator' }] };
  const run = { name: 'contract', folder, mode: 'rl', config, resumed: false, ...resume } as const;
  return { type: 'start', run };
};

const iteration = (number: number): ReportedEvent => ({
  type: 'iteration',
  iteration: number,
  metrics: { 'rollout/rewardMean': number / 10, 'outcome/wrong-answer': 2, 'train/loss': NaN },
});

const evaluation = (when: 'before' | 'during' | 'after', after: number): ReportedEvent => ({
  type: 'evaluation',
  when,
  iteration: after,
  metrics: { 'eval/successRate': 0.5, 'eval/group/hard ones': 0 },
});

const checkpoint = (folder: string, after: number): ReportedEvent => ({
  type: 'checkpoint',
  reason: 'periodic',
  iteration: after,
  path: join(folder, 'checkpoints', `step-${after}`),
  weightsSha256: 'c0ffee',
});

const ending: readonly ReportedEvent[] = [
  { type: 'summary', summary: { iterations: 3, eval: { before: null }, warnings: [] } },
  { type: 'end', status: 'finished' },
];

const whole = (folder: string): readonly ReportedEvent[] => [
  start(folder),
  evaluation('before', 0),
  iteration(1),
  evaluation('during', 2),
  iteration(2),
  checkpoint(folder, 2),
  iteration(3),
  evaluation('after', 3),
  ...ending,
];

/** What every tracker promises. Call it from the test of each one. */
export function describeTrackerContract(name: string, contract: TrackerContract): void {
  const { plugin, create, recorded, cutOff = {} } = contract;
  let time = 1_600_000_000_000;

  /** One session, told as a run tells it. */
  async function told(facts: readonly ReportedEvent[]): Promise<void> {
    const tracker = create();
    for (const fact of facts) {
      time += 1000;
      await tracker.track(frozen({ ...fact, time }), signal);
    }
    await tracker.close?.();
  }

  async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'agent-rl-tracker-'));
    try {
      await work(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  describe(`${name} keeps the Tracker contract`, () => {
    test("is marked with a spec whose settings take no name of the block's own", () => {
      const taken = ['type', 'queue', 'deadlineS', 'closeS'];
      expectSpec(trackers.specOf(plugin), { taken });
    });

    test('accepts every event of a session and changes none', async () => {
      await inFolder(async (folder) => {
        await told(whole(folder));
        expect(await recorded?.(folder)).toEqual(recorded && [1, 2, 3]);
      });
    });

    test('records each iteration once after a resume', async () => {
      await inFolder(async (folder) => {
        const before = [start(folder), iteration(1), iteration(2)];
        await told([...before, checkpoint(folder, 2), iteration(3)]);
        const again = start(folder, { resumed: true, from: 2 });
        await told([again, iteration(3), iteration(4), evaluation('after', 4), ...ending]);
        expect(await recorded?.(folder)).toEqual(recorded && [1, 2, 3, 4]);
      });
    });

    test('forgets earlier events when a run without a checkpoint starts again', async () => {
      await inFolder(async (folder) => {
        await told([start(folder), evaluation('before', 0), iteration(1)]);
        await told([start(folder, { resumed: true }), evaluation('before', 0), iteration(1)]);
        expect(await recorded?.(folder)).toEqual(recorded && [1]);
      });
    });

    test('can be closed after any events', async () => {
      await told([]);
      await inFolder((folder) => told([start(folder), { type: 'end', status: 'failed' }]));
    });

    test('neither hangs nor opens anything when it is used or closed again after its close', async () => {
      await inFolder(async (folder) => {
        const tracker = create();
        await tracker.track({ ...start(folder), time }, signal);
        await tracker.track({ ...iteration(1), time: time + 1 }, signal);
        await tracker.close?.();
        const late = async () => tracker.track({ ...iteration(2), time: time + 2 }, signal);
        await late().catch(() => undefined);
        await tracker.close?.();
        expect(await recorded?.(folder)).toEqual(recorded && [1]);
      });
    });

    for (const [what, make] of Object.entries(cutOff))
      test(`with ${what} costs a run its events and nothing else`, async () => {
        await inFolder(async (folder) => {
          const said: string[] = [];
          const limits = { queue: 3, deadlineS: 0.5, closeS: 2 };
          const session = new RunTrackers([{ name, make, ...limits }]);
          const began = performance.now();
          session.logTo({ warn: (text: string) => said.push(text) });
          for (const event of whole(folder)) session.on(event as RunEvent);
          // Told at once, whatever becomes of it.
          expect(performance.now() - began).toBeLessThan(1000);
          const reports = await session.close();
          expect(performance.now() - began).toBeLessThan(10_000);
          const report = reports?.[name];
          expect(report).toMatchObject({ recorded: 0, escaped: 0 });
          expect((report?.failed ?? 0) + (report?.lost ?? 0)).toBe(whole(folder).length);
          expect(report?.lost).toBeGreaterThan(0);
          expect(said.join(' ')).toMatch(/Training continues/);
          expect(said.at(-1)).toMatch(/ 0 of \d+ events recorded/);
        });
      });
  });
}
