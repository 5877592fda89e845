import { expect, test } from '@jest/globals';

import {
  mixed,
  never,
  options,
  type Script,
  setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { played } from '#tests/support/rollouts.ts';

const taskOf = (taskId: string) => ({ taskId, prompt: '', metadata: { family: 'sums' } });

/** Answers the attempts at task `e`, held out, and `s`, of the selection, with these rewards in order. */
const rewarded = (rewards: Readonly<Record<string, readonly number[]>>): Script => {
  const made: Record<string, number> = {};
  return (request) => {
    const { taskId } = request.task;
    const ofTask = rewards[taskId];
    if (ofTask === undefined) return mixed(request);
    const place = made[taskId] ?? 0;
    made[taskId] = place + 1;
    return played({ reward: ofTask[place] ?? 0 });
  };
};

test('a run evaluates before, during and after training', async () => {
  const seen: string[] = [];
  const evaluated: string[] = [];
  const { metrics, checkpoints, result } = await trained(
    rewarded({ e: [0, 1, 1, 0] }),
    {
      train: { ...options.train, iterations: 3 },
      eval: { ...options.eval, before: true, after: true, every: 1 },
      checkpoint: { every: 2, keepBest: false },
    },
    {
      evaluation: ({ when, iteration, evaluation: { successRate } }) =>
        seen.push(`${when} ${iteration}: ${successRate}`),
      'evaluation-rollout': ({ rollout, episodes }) =>
        evaluated.push(`${rollout.taskId} of ${episodes}`),
    },
  );
  expect(seen).toEqual(['before 0: 0', 'during 1: 1', 'during 2: 1', 'after 3: 0']);
  expect(evaluated).toEqual(['e of 1', 'e of 1', 'e of 1', 'e of 1']);
  expect(checkpoints).toEqual(['periodic 2', 'last 3']);
  expect(metrics[0]).toMatchObject({
    'eval/successRate': 1,
    'eval/group/sums': 1,
    'eval/failedShare': 0,
    'eval/difference': 1,
  });
  expect(result.before?.successRate).toBe(0);
  expect(result.difference).toMatchObject({ tasks: 1, difference: 0 });
});

const keepsBest = {
  train: { ...options.train, iterations: 3 },
  eval: { ...options.eval, before: true, after: true, every: 2 },
  checkpoint: { every: 0, keepBest: true },
};

test('the best checkpoint is chosen by the selection tasks only', async () => {
  const seen: string[] = [];
  // Held out: 0 before, 1 after iteration 2, 0 at the end. Selection: 0 after iteration 2, 1 at the end.
  const { metrics, checkpoints, rollouts, state } = await trained(
    rewarded({ e: [0, 1, 0], s: [0, 1] }),
    keepsBest,
    { evaluation: ({ when, iteration }) => seen.push(`${when} ${iteration}`) },
    { selectionTasks: [taskOf('s')] },
  );
  expect(seen).toEqual(['before 0', 'during 2', 'selection 2', 'selection 3', 'after 3']);
  expect(checkpoints).toEqual(['best 2', 'best 3', 'last 3']);
  expect(state).toMatchObject({ best: { iteration: 3, successRate: 1 }, selectionTasks: 1 });
  expect(metrics.map((line) => line['selection/successRate'])).toEqual([undefined, 0, 1]);
  // The task of the selection is only ever evaluated.
  const attempted = rollouts.requests.filter(({ task }) => task.taskId === 's');
  expect(attempted.map(({ sampling }) => sampling.temperature)).toEqual([0, 0]);
});

test('the earlier of two equal checkpoints stays the best', async () => {
  const { checkpoints, state } = await trained(
    rewarded({ e: [0, 0, 0], s: [1, 1] }),
    keepsBest,
    {},
    { selectionTasks: [taskOf('s')] },
  );
  expect(checkpoints).toEqual(['best 2', 'last 3']);
  expect(state.best).toEqual({ iteration: 2, successRate: 1 });
});

test('a run with keepBest needs held-out tasks, the same ones on resume', async () => {
  await expect(setUp(mixed, keepsBest).trainer.train(never)).rejects.toThrow(
    'needs held-out tasks',
  );
  const { state } = await trained(mixed, keepsBest, {}, { selectionTasks: [taskOf('s')] });
  const goesOn = setUp(mixed, keepsBest, {}, { selectionTasks: [taskOf('s'), taskOf('u')] });
  goesOn.trainer.restore(state);
  await expect(goesOn.trainer.train(never)).rejects.toThrow('holds out 1 tasks');
});

test('a run keeps no best checkpoint by default', async () => {
  const { checkpoints, state } = await trained(mixed, {
    eval: { ...options.eval, every: 1, after: true },
  });
  expect([checkpoints, state.best]).toEqual([['last 2'], null]);
});

test('a run discards an interrupted evaluation', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const { trainer, checkpoints } = setUp(
    mixed,
    { eval: { ...options.eval, before: true } },
    { 'evaluation-rollout': () => stop.abort(), evaluation: ({ when }) => seen.push(when) },
  );
  const result = await trainer.train(stop.signal);
  expect(result.before).toBeUndefined();
  expect(result.state.before).toBeNull();
  expect([seen, checkpoints]).toEqual([[], ['interrupted 0']]);
});

test('a run makes the baseline once, also when it is resumed', async () => {
  const evaluation = { eval: { ...options.eval, before: true } };
  const first = setUp(mixed, evaluation);
  const { state, before } = await first.trainer.train(never);
  expect(before?.rollouts).toHaveLength(1);
  const goesOn = (from: typeof state) => {
    const { trainer, rollouts } = setUp(mixed, evaluation);
    trainer.restore(from);
    return trainer.train(never).then((result) => ({ result, rollouts }));
  };
  const kept = await goesOn(state);
  expect(kept.result.before).toEqual({ ...before, rollouts: [] });
  const none = await goesOn({ ...state, before: null });
  expect(none.result.before).toBeUndefined();
  expect([...kept.rollouts.requests, ...none.rollouts.requests]).toEqual([]);
});

test('a run reports its activities', async () => {
  const phases: string[] = [];
  await trained(
    mixed,
    {
      train: { ...options.train, iterations: 2 },
      eval: { ...options.eval, before: true },
      checkpoint: { every: 1, keepBest: false },
    },
    {
      phase: ({ type: _type, iteration, ...phase }) =>
        phases.push(`${iteration} ${Object.values(phase).join(' ')}`),
    },
  );
  const iteration = (done: number): string[] => [
    `${done} collect ${options.rollout.tasksPerStep * options.rollout.groupSize}`,
    `${done} update`,
    `${done} publish`,
    `${done + 1} checkpoint`,
  ];
  expect(phases).toEqual(['0 evaluate before 1', ...iteration(0), ...iteration(1)]);
});
