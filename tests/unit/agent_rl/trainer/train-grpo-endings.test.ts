import { describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import { abortable } from '#agent_rl/core/stopping/abort.ts';
import type { CheckpointReason } from '#agent_rl/core/run-event.ts';
import type { TrainerState } from '#agent_rl/trainer/trainer-contracts.ts';
import {
  type Listener,
  mixed,
  never,
  options,
  type Script,
  setUp,
} from '#tests/support/grpo-trainer-setup.ts';
import { played as rolloutOf } from '#tests/support/rollouts.ts';

const train = { ...options.train, iterations: 4 };
const failure = new Error('It broke.');

/** Does something else from iteration `from` on, counted from 1: an iteration takes two tasks. */
const fromIteration =
  (from: number, then: Script): Script =>
  (request) =>
    Number(request.task.taskId.slice(1)) >= 2 * (from - 1) ? then(request) : mixed(request);

/** What could not be kept, in the order told. */
const listening = () => {
  const lost: unknown[] = [];
  const observer: Listener = { 'state-lost': ({ problem }) => lost.push(problem ?? 'midway') };
  return { lost, observer };
};

describe('A checkpoint of the last completed iteration', () => {
  test('is written when no episode of an iteration has a reward', async () => {
    const none = fromIteration(3, () => rolloutOf({ outcome: 'grader-error' }));
    const { trainer, checkpoints } = setUp(none, { train });
    await expect(trainer.train(never)).rejects.toMatchObject({ code: 'ROLLOUTS_FAILED' });
    expect(checkpoints).toEqual(['failed 2']);
    // The tasks of the failed iteration will be drawn again.
    expect(trainer.state().tasks).toMatchObject({ draws: 4 });
  });

  test('is written when an error of a plugin ends the run', async () => {
    const { trainer, checkpoints } = setUp(
      fromIteration(2, () => {
        throw failure;
      }),
      { train },
    );
    await expect(trainer.train(never)).rejects.toBe(failure);
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

  test.each(['forwardBackward', 'optimStep'] as const)(
    'is written when the learner fails in %s, which leaves the weights unchanged',
    async (method) => {
      const { trainer, learner, checkpoints } = setUp(mixed, { train });
      const refused = new AgentRlError('ENGINE_FAILED', 'The gradient is not finite.');
      const works = learner[method].bind(learner) as () => Promise<never>;
      learner[method] = async (...given: unknown[]) => {
        if (learner.steps.length === 1) throw refused;
        return works(...(given as []));
      };
      await expect(trainer.train(never)).rejects.toBe(refused);
      expect([checkpoints, learner.discarded]).toEqual([['failed 1'], 1]);
    },
  );

  test('is written when an evaluation between iterations fails, after the iteration is recorded', async () => {
    const none: Script = (request) =>
      request.task.taskId === 'e' ? rolloutOf({ outcome: 'grader-error' }) : mixed(request);
    const evaluation = { ...options.eval, every: 2 };
    const { trainer, metrics, checkpoints } = setUp(none, { train, eval: evaluation });
    await expect(trainer.train(never)).rejects.toMatchObject({ code: 'ROLLOUTS_FAILED' });
    expect([metrics.length, checkpoints]).toEqual([2, ['failed 2']]);
  });

  test('contains the baseline evaluation', async () => {
    const script = fromIteration(1, () => {
      throw failure;
    });
    const judged: Script = (request) =>
      request.task.taskId === 'e' ? mixed(request) : script(request);
    const states: TrainerState[] = [];
    const { trainer } = setUp(
      judged,
      { eval: { ...options.eval, before: true } },
      { save: async (_, state) => states.push(state) },
    );
    await expect(trainer.train(never)).rejects.toBe(failure);
    expect(states).toMatchObject([{ iteration: 0, before: { n: 1 } }]);
  });
});

describe('A further checkpoint after a failure', () => {
  test('is not written if the newest already has that iteration', async () => {
    const none = fromIteration(3, () => rolloutOf({ outcome: 'grader-error' }));
    const checkpoint = { every: 1, keepBest: false };
    const { trainer, checkpoints } = setUp(none, { train, checkpoint });
    await expect(trainer.train(never)).rejects.toThrow('has a reward');
    expect(checkpoints).toEqual(['periodic 1', 'periodic 2']);
  });

  test('is not written in the first iteration after a resume', async () => {
    const { trainer, checkpoints } = setUp(
      () => {
        throw failure;
      },
      { train },
    );
    trainer.restore({ ...trainer.state(), iteration: 2 });
    await expect(trainer.train(never)).rejects.toBe(failure);
    expect(checkpoints).toEqual([]);
  });

  test('is not written if no iteration was completed', async () => {
    const before = { ...options.eval, before: true };
    const { trainer, checkpoints } = setUp(() => rolloutOf({ outcome: 'grader-error' }), {
      eval: before,
    });
    await expect(trainer.train(never)).rejects.toThrow('has a reward');
    expect(checkpoints).toEqual([]);
  });

  test('is not written if writing one failed, and that error is thrown', async () => {
    const tried: string[] = [];
    const { trainer } = setUp(
      mixed,
      { train, checkpoint: { every: 2, keepBest: false } },
      {
        save: async (reason, { iteration }) => {
          tried.push(`${reason} ${iteration}`);
          throw failure;
        },
      },
    );
    await expect(trainer.train(never)).rejects.toBe(failure);
    expect(tried).toEqual(['periodic 2']);
  });
});

describe('The loss of iterations in a failure', () => {
  test.each([
    ['after a second pass over the data that failed', 2, 'forwardBackward'],
    ['where the new weights could not be published', 1, 'publish'],
  ] as const)('%s: the weights belong to no iteration', async (_, epochs, method) => {
    const { lost, observer } = listening();
    const algorithm = { ...options.algorithm, epochs };
    const { trainer, learner, checkpoints } = setUp(mixed, { train, algorithm }, observer);
    const works = learner[method].bind(learner) as () => Promise<never>;
    learner[method] = async (...given: unknown[]) => {
      if (learner.steps.length === 2 * epochs - (epochs - 1)) throw failure;
      return works(...(given as []));
    };
    await expect(trainer.train(never)).rejects.toBe(failure);
    expect([checkpoints, lost]).toEqual([[], ['midway']]);
  });

  test('is reported if an iteration could not be recorded', async () => {
    const { lost, observer } = listening();
    const iteration: Listener['iteration'] = (event) => {
      if (event.iteration === 2) throw failure;
    };
    const { trainer, checkpoints } = setUp(mixed, { train }, { ...observer, iteration });
    await expect(trainer.train(never)).rejects.toBe(failure);
    expect([checkpoints, lost]).toEqual([[], ['midway']]);
  });

  test('is reported with the reason if their checkpoint also fails, and the first error is thrown', async () => {
    const { lost, observer } = listening();
    const dead = new Error('The engine is gone.');
    const { trainer } = setUp(
      fromIteration(2, () => {
        throw failure;
      }),
      { train },
      {
        ...observer,
        save: async () => {
          throw dead;
        },
      },
    );
    await expect(trainer.train(never)).rejects.toBe(failure);
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

test('a best checkpoint that could not be written is not recorded', async () => {
  const reasons: CheckpointReason[] = [];
  const { trainer } = setUp(
    mixed,
    {
      train,
      eval: { ...options.eval, every: 1 },
      checkpoint: { every: 0, keepBest: true },
    },
    {
      save: async (reason) => {
        reasons.push(reason);
        if (reason === 'best') throw failure;
      },
    },
    { selectionTasks: [{ taskId: 's', prompt: '', metadata: {} }] },
  );
  await expect(trainer.train(never)).rejects.toBe(failure);
  expect(reasons).toEqual(['best', 'failed']);
  expect(trainer.state()).toMatchObject({ iteration: 1, best: null });
});

describe('An evaluation that a run still owes', () => {
  const selectionTasks = [{ taskId: 's', prompt: '', metadata: {} }];
  const changes = {
    train,
    eval: { ...options.eval, every: 2 },
    checkpoint: { every: 0, keepBest: true },
  };
  /** What is evaluated and kept, in order, by a trainer that goes on from a state where one is given. */
  const played = async (script: Script, from?: TrainerState, signal = never) => {
    const seen: string[] = [];
    const { trainer } = setUp(
      script,
      changes,
      {
        evaluation: ({ when, iteration }) => seen.push(`${when} ${iteration}`),
        save: async (reason, { iteration }) => seen.push(`${reason} ${iteration}`),
      },
      { selectionTasks },
    );
    if (from !== undefined) trainer.restore(from);
    const ended = await trainer.train(signal).catch(() => undefined);
    return { seen, ended, state: JSON.parse(JSON.stringify(trainer.state())) as TrainerState };
  };

  test.each(['e', 's'])('is made when a run that failed on task %s is resumed', async (id) => {
    const whole = await played(mixed);
    expect(whole.seen).toEqual(['during 2', 'selection 2', 'best 2', 'selection 4', 'last 4']);
    const failed = await played((request) =>
      request.task.taskId === id ? rolloutOf({ outcome: 'grader-error' }) : mixed(request),
    );
    expect(failed.seen).toEqual(id === 'e' ? ['failed 2'] : ['during 2', 'failed 2']);
    const resumed = await played(mixed, failed.state);
    expect([...failed.seen, ...resumed.seen].filter((one) => one !== 'failed 2')).toEqual(
      whole.seen,
    );
    expect(resumed.state.best).toEqual(whole.state.best);
    expect(resumed.state.evaluationsDue).toEqual([]);
  });

  test('is made when an interrupted run is resumed', async () => {
    const stop = new AbortController();
    const cut = await played(
      (request) => {
        if (request.task.taskId === 's') stop.abort();
        return mixed(request);
      },
      undefined,
      stop.signal,
    );
    expect(cut.seen).toEqual(['during 2', 'interrupted 2']);
    const resumed = await played(mixed, cut.state);
    expect(resumed.seen).toEqual(['selection 2', 'best 2', 'selection 4', 'last 4']);
  });
});
