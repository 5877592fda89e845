import { describe, expect, test } from '@jest/globals';

import { openTrainingDisplay } from '#agent_rl/runs/display/open-training-display.ts';
import type { Evaluation } from '#agent_rl/trainer/evaluate.ts';
import type { TrainingEvent } from '#agent_rl/trainer/trainer-contracts.ts';
import { rollout } from '#tests/support/rollouts.ts';
import { EmulatedTerminal } from '#tests/support/emulated-terminal.ts';

const steady = {
  'rollout/failedShare': 0,
  'rollout/toolCallRate': 0.92,
  'speed/decodeTokensPerSecond': 1840,
};
const iterated = (iteration: number, reward: number, success: number): TrainingEvent => {
  const metrics = { ...steady, 'rollout/rewardMean': reward, 'rollout/successRate': success };
  return { type: 'iteration', iteration, metrics, learned: [] };
};
const collecting = (iteration: number): TrainingEvent => ({
  type: 'phase',
  name: 'collect',
  iteration,
  episodes: 8,
});
const played: TrainingEvent = { type: 'rollout', rollout: rollout([]) };
const attempted = (episodes: number): TrainingEvent => ({
  type: 'evaluation-rollout',
  rollout: rollout([]),
  episodes,
});

function setUp(columns: number, options: Partial<Parameters<typeof openTrainingDisplay>[0]> = {}) {
  const terminal = new EmulatedTerminal({ columns });
  let time = 0;
  let ends: number | undefined;
  const display = openTrainingDisplay({
    name: 'smoke-seed42',
    iterations: 5,
    secondsLeft: () => ends && (ends - time) / 1000,
    stream: terminal,
    clock: () => time,
    environment: {},
    ...options,
  });
  const wait = (seconds: number) => (time += 1000 * seconds);
  /** Sets the expected number of seconds until the run ends. */
  const expectEnd = (seconds: number) => (ends = time + 1000 * seconds);
  /** The rows after they were drawn anew for a width. */
  const rowsAt = async (width: number) => {
    await terminal.resize(width);
    return terminal.rowsShown();
  };
  return { terminal, display, wait, expectEnd, rowsAt };
}

/** Four iterations of 10 s, and 12 s into the collection of the fifth. */
function fourIterations(columns: number) {
  const all = setUp(columns);
  const { display, wait, expectEnd } = all;
  for (let iteration = 0; iteration < 4; iteration++) {
    display.on(collecting(iteration));
    wait(10);
    expectEnd(10 * (4 - iteration));
    display.on(iterated(iteration + 1, 2 * iteration, iteration / 4));
  }
  display.on(collecting(4));
  for (let episode = 0; episode < 3; episode++) display.on(played);
  wait(3);
  return all;
}

describe('The panel of a training', () => {
  test('shows what the run waits for, how far it is and how it went, in 80 columns', async () => {
    const { terminal, display, rowsAt } = fourIterations(200);
    expect(await rowsAt(80)).toEqual([
      'smoke-seed42  collecting: waiting for 5 of 8 episodes, 3 s',
      // 10 s were left, of which 3 have passed. 24 of 30 columns.
      'iterations [████████████████████████░░░░░░] 4/5  left 7 s',
      // Rewards 0, 2, 4 and 6 lie evenly over eight levels, as do 0, 1/4, 1/2 and 3/4 below 1.
      'reward ▁▃▆█ 6.00  success ▁▃▅▇ 75 %',
      'failed 0 %  calls 92 %  1840 tok/s',
    ]);
    display.close();
    expect(await terminal.rowsShown()).toEqual([]);
  });

  test('shows no time before an iteration, and how long the evaluation after the last will take', async () => {
    const { terminal, display, expectEnd, wait, rowsAt } = setUp(110);
    display.on(collecting(0));
    expect((await terminal.rowsShown())[1]).toContain('left unknown');
    expectEnd(8);
    display.on(iterated(5, 1, 1));
    display.on({ type: 'phase', name: 'evaluate', when: 'after', iteration: 5, episodes: 4 });
    expect((await rowsAt(109))[1]).toMatch(/5\/5 {2}left 8 s$/);
    wait(9);
    expect((await rowsAt(108))[1]).toMatch(/5\/5 {2}all iterations done$/);
  });

  test('is one line where the terminal is narrow', async () => {
    const { rowsAt } = fourIterations(39);
    expect(await rowsAt(38)).toEqual(['4/5  left 7 s  reward 6.00  success …']);
  });

  test.each([
    // 79 - 'reward ' - ' 1.00' - '  success ' - ' 100 %' leaves 51 for two. 110: 81.
    [80, 25],
    [110, 40],
  ])('draws as many iterations as fit into %d columns, the newest', async (columns, each) => {
    const { display, rowsAt } = setUp(columns);
    for (let iteration = 1; iteration <= 100; iteration++)
      display.on(iterated(iteration, iteration === 100 ? 1 : 0, iteration > 60 ? 1 : 0));
    const rows = await rowsAt(columns);
    const rewards = `reward ${'▁'.repeat(each - 1)}█ 1.00`;
    expect(rows).toContain(`${rewards}  success ${'█'.repeat(each)} 100 %`);
    for (const row of rows) expect(row.length).toBeLessThan(columns);
  });

  test.each([
    [{ name: 'update' }, 'updating: waiting for the learner, 2 s'],
    [
      { name: 'evaluate', when: 'before', episodes: 4 },
      'evaluating before training: waiting for 3 of 4 episodes, 2 s',
    ],
  ] as const)('names %j', async (phase, text) => {
    const { terminal, display, wait, rowsAt } = setUp(110);
    expect((await terminal.rowsShown())[0]).toBe('smoke-seed42  starting');
    display.on({ type: 'phase', ...phase, iteration: 0 });
    if (phase.name === 'evaluate') display.on(attempted(4));
    wait(2);
    expect((await rowsAt(109))[0]).toBe(`smoke-seed42  ${text}`);
  });
});

describe('The display without a panel', () => {
  test('is a plain line for each iteration and each whole evaluation', async () => {
    const { terminal, display, wait, expectEnd } = setUp(80, { environment: { NO_COLOR: '1' } });
    wait(2);
    display.on(attempted(2));
    display.on(attempted(2));
    const evaluation = {} as Evaluation;
    display.on({ type: 'evaluation', when: 'before', iteration: 0, metrics: {}, evaluation });
    display.on(collecting(0));
    wait(10);
    // The evaluation after training among them.
    expectEnd(42);
    display.on(iterated(1, 0.5, 0.25));
    display.close();
    expect(terminal.bytes).not.toContain('\u001B');
    expect(await terminal.linesShown()).toEqual([
      'eval 2/2  left 0 s',
      'train 1/5  left 42 s  reward 0.50  success 25 %  failed 0 %  calls 92 %  1840 tok/s',
    ]);
  });

  test('shows nothing with quiet', () => {
    const { terminal, display } = setUp(80, { quiet: true });
    display.on(attempted(1));
    display.on(iterated(1, 0, 0));
    display.close();
    expect(terminal.bytes).toBe('');
  });
});
