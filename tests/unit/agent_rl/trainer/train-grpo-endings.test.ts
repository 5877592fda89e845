import { describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import { abortable } from '#agent_rl/core/stopping/abort.ts';
import type { TrainerState } from '#agent_rl/trainer/trainer-contracts.ts';
import {
  failing,
  type Listener,
  mixed,
  never,
  type Script,
  setUp,
} from '#tests/support/grpo-trainer-setup.ts';
import { played as rolloutOf } from '#tests/support/rollouts.ts';

const train = { iterations: 4 };
const failure = new Error('It broke.');
const breaks = (): never => {
  throw failure;
};
const unjudged = () => rolloutOf({ outcome: 'grader-error' });

/** Does something else from iteration `from` on, counted from 1: an iteration takes two tasks. */
const fromIteration =
  (from: number, then: Script): Script =>
  (request) =>
    Number(request.task.taskId.slice(1)) >= 2 * (from - 1) ? then(request) : mixed(request);
/** Does something else at a task, such as `e` of an evaluation. */
const atTask =
  (taskId: string, then: Script): Script =>
  (request) =>
    request.task.taskId === taskId ? then(request) : mixed(request);

/** What could not be kept, in the order told. */
const listening = () => {
  const lost: unknown[] = [];
  const observer: Listener = { 'state-lost': ({ problem }) => lost.push(problem ?? 'midway') };
  return { lost, observer };
};

type Setting = ReturnType<typeof setUp>;
/** Makes a method of the learner fail after some steps. */
const failAfter = (
  learner: Setting['learner'],
  method: 'forwardBackward' | 'optimStep' | 'publish',
  steps: number,
  error: Error = failure,
) => {
  const works = learner[method].bind(learner) as () => Promise<never>;
  learner[method] = async (...given: unknown[]) => {
    if (learner.steps.length === steps) throw error;
    return works(...(given as []));
  };
};

describe('A checkpoint of the last completed iteration', () => {
  test('is written when no episode of an iteration has a reward', async () => {
    const { trainer, checkpoints, error } = await failing(fromIteration(3, unjudged), { train });
    expect(error).toMatchObject({ code: 'ROLLOUTS_FAILED' });
    expect(checkpoints).toEqual(['failed 2']);
    // The tasks of the failed iteration will be drawn again.
    expect(trainer.state().tasks).toMatchObject({ draws: 4 });
  });

  test('is written when an error of a plugin ends the run', async () => {
    const { checkpoints, error } = await failing(fromIteration(2, breaks), { train });
    expect(error).toBe(failure);
    expect(checkpoints).toEqual(['failed 1']);
  });

  test('is written when generator and learner disagree', async () => {
    const { trainer, learner, checkpoints } = setUp(mixed, { train });
    const forwardBackward = learner.forwardBackward.bind(learner);
    learner.forwardBackward = async (data, loss) => {
      if (learner.steps.length === 2) learner.gap = 1;
      return forwardBackward(data, loss);
    };
    await expect(trainer.train(never)).rejects.toMatchObject({ code: 'PARITY_BROKEN' });
    expect([learner.steps.length, checkpoints]).toEqual([2, ['failed 2']]);
  });

  const methods = ['forwardBackward', 'optimStep'] as const;
  test.each(methods)('is written when the learner fails in %s before it steps', async (method) => {
    const { trainer, learner, checkpoints } = setUp(mixed, { train });
    const refused = new AgentRlError('ENGINE_FAILED', 'The gradient is not finite.');
    failAfter(learner, method, 1, refused);
    await expect(trainer.train(never)).rejects.toBe(refused);
    expect([checkpoints, learner.discarded]).toEqual([['failed 1'], 1]);
  });

  test('is written when an evaluation between iterations fails, after the iteration is recorded', async () => {
    const changes = { train, eval: { every: 2 } };
    const { metrics, checkpoints, error } = await failing(atTask('e', unjudged), changes);
    expect(error).toMatchObject({ code: 'ROLLOUTS_FAILED' });
    expect([metrics.length, checkpoints]).toEqual([2, ['failed 2']]);
  });

  test('contains the baseline evaluation', async () => {
    const states: TrainerState[] = [];
    const { error } = await failing(
      (request) => (request.task.taskId === 'e' ? mixed(request) : breaks()),
      { eval: { before: true } },
      { save: async (_, state) => states.push(state) },
    );
    expect(error).toBe(failure);
    expect(states).toMatchObject([{ iteration: 0, before: { n: 1 } }]);
  });
});

describe('A further checkpoint after a failure', () => {
  test('is not written if the newest already has that iteration', async () => {
    const changes = { train, checkpoint: { every: 1 } };
    const { checkpoints, error } = await failing(fromIteration(3, unjudged), changes);
    expect(String(error)).toContain('ended without a reward');
    expect(checkpoints).toEqual(['periodic 1', 'periodic 2']);
  });

  test('is not written in the first iteration after a resume, nor if none was completed', async () => {
    const { trainer, checkpoints } = setUp(breaks, { train });
    trainer.restore({ ...trainer.state(), iteration: 2 });
    await expect(trainer.train(never)).rejects.toBe(failure);
    expect(checkpoints).toEqual([]);
    const none = await failing(unjudged, { eval: { before: true } });
    expect(none.checkpoints).toEqual([]);
  });

  test('is not written if writing one failed, and that error is thrown', async () => {
    const tried: string[] = [];
    const { error } = await failing(
      mixed,
      { train, checkpoint: { every: 2 } },
      {
        save: async (reason, { iteration }) => {
          tried.push(`${reason} ${iteration}`);
          throw failure;
        },
      },
    );
    expect([error, tried]).toEqual([failure, ['periodic 2']]);
  });
});

describe('The loss of iterations in a failure', () => {
  test.each([
    ['after a second pass over the data that failed', 2, 'forwardBackward'],
    ['where the new weights could not be published', 1, 'publish'],
  ] as const)('%s: the weights belong to no iteration', async (_, epochs, method) => {
    const { lost, observer } = listening();
    const changes = { train, algorithm: { epochs } };
    const { trainer, learner, checkpoints } = setUp(mixed, changes, observer);
    failAfter(learner, method, 2 * epochs - (epochs - 1));
    await expect(trainer.train(never)).rejects.toBe(failure);
    expect([checkpoints, lost]).toEqual([[], ['midway']]);
  });

  test('is reported if an iteration could not be recorded', async () => {
    const { lost, observer } = listening();
    const iteration: Listener['iteration'] = (event) => event.iteration === 2 && breaks();
    const { checkpoints, error } = await failing(mixed, { train }, { ...observer, iteration });
    expect([error, checkpoints, lost]).toEqual([failure, [], ['midway']]);
  });

  test('is reported with the reason if their checkpoint also fails, and the first error is thrown', async () => {
    const { lost, observer } = listening();
    const dead = new Error('The engine is gone.');
    const save = () => Promise.reject(dead);
    const listener = { ...observer, save };
    const { error } = await failing(fromIteration(2, breaks), { train }, listener);
    expect(error).toBe(failure);
    expect(lost).toEqual([dead]);
  });
});

test.each([
  ['the first weights', 0, ['interrupted 0']],
  ['the weights of an iteration, which is whole', 1, ['interrupted 1']],
])('a training stopped while it publishes %s ends as interrupted', async (_, steps, kept) => {
  const stop = new AbortController();
  const { trainer, learner, checkpoints, metrics } = setUp(mixed, { train });
  const publish = learner.publish.bind(learner);
  // A server that hangs.
  learner.publish = async (signal) => {
    if (learner.steps.length < steps) return publish();
    setImmediate(() => stop.abort(new Error('Ctrl-C')));
    return abortable(new Promise<never>(() => undefined), signal);
  };
  expect(await trainer.train(stop.signal)).toMatchObject({ interrupted: true });
  expect([checkpoints, metrics.length, trainer.state().iteration]).toEqual([kept, steps, steps]);
});

describe('A run that keeps its best checkpoint', () => {
  const checkpoint = { every: 0, keepBest: true };
  const keepBest = (every: number) => ({ train, eval: { every }, checkpoint });
  const selectionTasks = [{ taskId: 's', prompt: '', metadata: {} }];

  test('does not record one that could not be written', async () => {
    const reasons: string[] = [];
    const { trainer, error } = await failing(
      mixed,
      keepBest(1),
      { save: async (reason) => (reasons.push(reason), reason === 'best' && breaks()) },
      { selectionTasks },
    );
    expect([error, reasons]).toEqual([failure, ['best', 'failed']]);
    expect(trainer.state()).toMatchObject({ iteration: 1, best: null });
  });

  /** What is evaluated and kept, in order, by a trainer that goes on from a state where one is given. */
  const seenBy = async (script: Script, from?: TrainerState, signal = never) => {
    const seen: string[] = [];
    const { trainer } = setUp(
      script,
      keepBest(2),
      {
        evaluation: ({ when, iteration }) => seen.push(`${when} ${iteration}`),
        save: async (reason, { iteration }) => seen.push(`${reason} ${iteration}`),
      },
      { selectionTasks },
    );
    if (from !== undefined) trainer.restore(from);
    await trainer.train(signal).catch(() => undefined);
    return { seen, state: JSON.parse(JSON.stringify(trainer.state())) as TrainerState };
  };

  test.each(['e', 's'])('makes the evaluation that failed on task %s when resumed', async (id) => {
    const whole = await seenBy(mixed);
    expect(whole.seen).toEqual(['during 2', 'selection 2', 'best 2', 'selection 4', 'last 4']);
    const failed = await seenBy(atTask(id, unjudged));
    expect(failed.seen).toEqual(id === 'e' ? ['failed 2'] : ['during 2', 'failed 2']);
    const resumed = await seenBy(mixed, failed.state);
    const seen = [...failed.seen, ...resumed.seen].filter((one) => one !== 'failed 2');
    expect(seen).toEqual(whole.seen);
    expect(resumed.state).toMatchObject({ best: whole.state.best, evaluationsDue: [] });
  });

  test('makes an interrupted evaluation when resumed', async () => {
    const stop = new AbortController();
    const stops = atTask('s', (request) => {
      stop.abort();
      return mixed(request);
    });
    const cut = await seenBy(stops, undefined, stop.signal);
    expect(cut.seen).toEqual(['during 2', 'interrupted 2']);
    const resumed = await seenBy(mixed, cut.state);
    expect(resumed.seen).toEqual(['selection 2', 'best 2', 'selection 4', 'last 4']);
  });
});
