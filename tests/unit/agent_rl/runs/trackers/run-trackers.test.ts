import { describe, expect, test } from '@jest/globals';

import type { TrackedEvent, Tracker } from '#agent_rl/core/plugins/tracker.ts';
import type { RunEvent, TrackedRun } from '#agent_rl/core/run-event.ts';
import { ownerOfStrays, StrayFailure } from '#agent_rl/core/stopping/stray-failure.ts';
import { RunTrackers } from '#agent_rl/runs/trackers/run-trackers.ts';
import { type QueuedTracker, TrackerQueue } from '#agent_rl/runs/trackers/tracker-queue.ts';
import { rollout } from '#tests/support/rollouts.ts';

const end: TrackedEvent = { type: 'end', status: 'finished', time: 0 };

const named = (tracker: Tracker, limits: Partial<QueuedTracker> = {}): QueuedTracker => ({
  name: 'own',
  make: () => tracker,
  queue: 100,
  deadlineS: 5,
  closeS: 5,
  ...limits,
});

/** The events of a tracker, as short texts. */
function notebook() {
  const told: string[] = [];
  const track = (one: TrackedEvent): void => {
    told.push(one.type === 'iteration' ? String(one.iteration) : one.type);
  };
  return { told, track };
}

function queueOf(tracker: Tracker, limits: Partial<QueuedTracker> = {}, now?: () => number) {
  const said: string[] = [];
  const queue = new TrackerQueue(named(tracker, limits), (text) => said.push(text), now);
  const push = (...iterations: number[]): void => {
    for (const iteration of iterations)
      queue.push({ type: 'iteration', iteration, metrics: {}, time: 0 });
  };
  return { queue, push, said };
}

/** A notebook that is slow until it is opened. */
function slowNotebook() {
  const { told, track } = notebook();
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    told,
    open: () => open(),
    track: async (one: TrackedEvent) => opened.then(() => track(one)),
  };
}

describe('A tracker', () => {
  test('receives one event after the other, in order, while the run goes on', async () => {
    const slow = slowNotebook();
    const { queue, push, said } = queueOf(slow);
    push(1, 2, 3);
    expect(slow.told).toEqual([]);
    slow.open();
    expect(await queue.close()).toEqual({ recorded: 3, failed: 0, lost: 0, escaped: 0 });
    expect([slow.told, said]).toEqual([['1', '2', '3'], []]);
  });

  test('has its first failure logged and all failures counted', async () => {
    const throws = (one: TrackedEvent) => {
      if (one.type === 'iteration' && one.iteration !== 2) throw new Error(`no ${one.iteration}`);
    };
    const { queue, push, said } = queueOf({ track: throws });
    push(1, 2, 3);
    expect(await queue.close()).toEqual({ recorded: 1, failed: 2, lost: 0, escaped: 0 });
    expect(said).toEqual([
      expect.stringMatching(
        /^Tracker "own" failed .*no 1\. Training continues; further failures are only counted\.$/,
      ),
      'Tracker "own": 1 of 3 events recorded, 2 failed, 0 dropped, 0 unhandled errors.',
    ]);
  });

  test('logs each note once, and no more than twenty', async () => {
    const notes = (one: TrackedEvent) =>
      one.type === 'iteration' ? `note ${Math.ceil(one.iteration / 2)}` : undefined;
    const { queue, push, said } = queueOf({ track: notes });
    for (let number = 1; number <= 60; number++) push(number);
    await queue.close();
    expect(said.slice(0, 2)).toEqual(['Tracker "own": note 1', 'Tracker "own": note 2']);
    expect(said).toHaveLength(21);
    expect(said.at(-1)).toMatch('further notes are not logged');
  });

  test('loses events when too many wait, but never the end', async () => {
    const slow = slowNotebook();
    const { queue, push, said } = queueOf(slow, { queue: 2 });
    push(1);
    // The first is under way.
    await Promise.resolve();
    await Promise.resolve();
    push(2, 3, 4);
    queue.push(end);
    slow.open();
    expect(await queue.close()).toEqual({ recorded: 4, failed: 0, lost: 1, escaped: 0 });
    expect(slow.told).toEqual(['1', '2', '3', 'end']);
    expect(said[0]).toMatch('is too slow: 2 events are waiting, and the next one is dropped');
  });

  test('has its deadline for each event, after which the next one comes', async () => {
    const { told, track } = notebook();
    const aborted: boolean[] = [];
    const hangs = async (one: TrackedEvent, signal: AbortSignal) => {
      if (one.type === 'end') return track(one);
      return new Promise<void>(() => signal.addEventListener('abort', () => aborted.push(true)));
    };
    const { queue, push, said } = queueOf({ track: hangs }, { deadlineS: 0.01 });
    push(1);
    queue.push(end);
    expect(await queue.close()).toEqual({ recorded: 1, failed: 1, lost: 0, escaped: 0 });
    expect([told, aborted]).toEqual([['end'], [true]]);
    expect(said[0]).toMatch('took longer than 0.01 s for one event (deadlineS)');
  });

  test('holds the end up for no longer than closeS, and is closed anyway', async () => {
    let closed = 0;
    const close = () => Promise.reject(new Error(`late: ${++closed}`));
    const track = () => new Promise<undefined>(() => undefined);
    const { queue, push, said } = queueOf({ track, close }, { closeS: 0.01 });
    push(1, 2, 3);
    expect(await queue.close()).toEqual({ recorded: 0, failed: 0, lost: 3, escaped: 0 });
    expect(closed).toBe(1);
    expect(said[0]).toMatch('did not finish within 0.01 s after the run (closeS)');
  });

  test('does not end the run where it fails to close', async () => {
    const close = () => Promise.reject(new Error('gone'));
    const { queue, push, said } = queueOf({ track: () => undefined, close });
    push(1);
    expect(await queue.close()).toMatchObject({ recorded: 1 });
    expect(said).toEqual([expect.stringMatching(/^Tracker "own" failed in close .*gone/)]);
  });

  test('receives nothing more after it has blocked the thread for 5 s and 1 % of the time', async () => {
    let clock = 0;
    const { told, track } = notebook();
    const holds = {
      track: (one: TrackedEvent) => {
        track(one);
        clock += 2000;
      },
    };
    const { queue, push, said } = queueOf(holds, {}, () => clock);
    push(1, 2, 3, 4, 5);
    expect(await queue.close()).toEqual({ recorded: 3, failed: 0, lost: 2, escaped: 0 });
    expect(told).toEqual(['1', '2', '3']);
    expect(said[0]).toMatch('has blocked the training for 6.0 s');

    // 6 s of 1000 s are less than 1 %.
    const patient = queueOf(holds, {}, () => clock);
    clock += 1_000_000;
    patient.push(1, 2, 3, 4);
    expect(await patient.queue.close()).toMatchObject({ recorded: 4, lost: 0 });
  });

  test('owns the errors that it does not await, of its constructor too', async () => {
    let owner: ReturnType<typeof ownerOfStrays>;
    const make = (): Tracker => {
      owner = ownerOfStrays();
      return { track: () => undefined };
    };
    const { queue, said } = queueOf({ track: () => undefined }, { make });
    owner?.(new StrayFailure('rejection', new Error('not awaited')));
    expect(ownerOfStrays()).toBeUndefined();
    expect(await queue.close()).toEqual({ recorded: 0, failed: 0, lost: 0, escaped: 1 });
    expect(said[0]).toMatch('Tracker "own": A promise was rejected and nothing awaited it');
  });
});

const run: TrackedRun = { name: 'r', folder: '/r', mode: 'rl', config: {}, resumed: false };
const finished: RunEvent = { type: 'end', status: 'finished' };

/** A session with one tracker, and what that receives. */
const recording = () => {
  const events: TrackedEvent[] = [];
  const trackers = new RunTrackers([named({ track: (told) => void events.push(told) })]);
  return { events, trackers };
};

describe('The trackers of a session', () => {
  test('each receive all of their events, from the start to the end, in copies of their own', async () => {
    const [one, other] = [notebook(), notebook()];
    const spoils: Tracker = {
      track: (told) => {
        one.track(told);
        if (told.type === 'iteration') (told as { iteration: number }).iteration = 99;
      },
    };
    const trackers = new RunTrackers([named(spoils), { ...named(other), name: 'other' }]);
    trackers.on({ type: 'start', run });
    trackers.on({ type: 'phase', name: 'update', iteration: 0 });
    trackers.on({ type: 'rollout', rollout: rollout([]) });
    trackers.on({ type: 'iteration', iteration: 1, metrics: { a: 1 }, learned: [] });
    trackers.on({ type: 'summary', summary: { iterations: 1 } });
    trackers.on(finished);
    const reports = await trackers.close();
    expect(one.told).toEqual(['start', '1', 'summary', 'end']);
    expect(other.told).toEqual(one.told);
    expect(Object.keys(reports ?? {})).toEqual(['own', 'other']);
    expect(await trackers.close()).toBe(reports);
  });

  test('receive the figures of an iteration and an evaluation, without their episodes', async () => {
    const { events, trackers } = recording();
    const metrics = { a: 1 };
    trackers.on({ type: 'iteration', iteration: 1, metrics, learned: [{}] });
    trackers.on({ type: 'evaluation', when: 'after', iteration: 1, metrics, evaluation: {} });
    await trackers.close();
    const time = expect.any(Number);
    expect(events).toEqual([
      { type: 'iteration', iteration: 1, metrics, time },
      { type: 'evaluation', when: 'after', iteration: 1, metrics, time },
    ]);
  });

  test('receive no secret of the environment', async () => {
    process.env['TRACKER_TEST_KEY'] = 'hunter2-hunter2';
    const { events, trackers } = recording();
    delete process.env['TRACKER_TEST_KEY'];
    const config = { policy: { systemPrompt: 'Say hunter2-hunter2.' } };
    trackers.on({ type: 'start', run: { ...run, config } });
    trackers.on({ type: 'summary', summary: { warnings: ['hunter2-hunter2'] } });
    await trackers.close();
    expect(JSON.stringify(events)).not.toMatch('hunter2');
    expect(JSON.stringify(events)).toMatch('Say [redacted].');
  });
});
