import { describe, expect, test } from '@jest/globals';

import { Transcript, type TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { evaluate, type Evaluation } from '#agent_rl/trainer/evaluate.ts';
import { type SftRun, type SftState, trainSft } from '#agent_rl/trainer/train-sft.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';
import { played } from '#tests/support/rollouts.ts';

/** One user token, `said` assistant tokens marked by `id`, one tool token. */
const conversation = (id: number, said: number): TranscriptRecord => {
  const transcript = new Transcript();
  transcript.append('user', [1]);
  transcript.append('demonstration', Array<number>(said).fill(id));
  transcript.append('tool', [2]);
  return transcript.record();
};

const options = {
  seed: 1,
  batchSize: 2,
  microBatchTokens: 100,
  train: {
    iterations: 3,
    learningRate: 1,
    warmupSteps: 2,
    schedule: 'constant' as const,
    finalRatio: 0,
    beta1: 0.9,
    beta2: 0.95,
    eps: 1e-8,
    weightDecay: 0,
    maxGradNorm: 1,
  },
};
const never = new AbortController().signal;

/** A run that keeps nothing. */
const runOf = (
  learner: FakeLearner,
  examples: readonly TranscriptRecord[],
  more: Partial<SftRun> = {},
): SftRun => ({
  options,
  learner,
  examples,
  emit: () => undefined,
  save: async () => written,
  ...more,
});
const written = { path: '', weightsSha256: '' };

describe('trainSft', () => {
  test('trains on assistant tokens, each with the same weight in a step', async () => {
    const learner = new FakeLearner();
    await trainSft(runOf(learner, [conversation(10, 1), conversation(11, 3)]), never);
    const [long, short] = (learner.batches[0] ?? []).toSorted(
      (a, b) => b.tokens.length - a.tokens.length,
    );
    expect([...(long?.weights ?? [])]).toEqual([0, 0.25, 0.25, 0.25, 0]);
    expect([...(short?.weights ?? [])]).toEqual([0, 0.25, 0]);
    expect(learner.losses[0]).toEqual({ name: 'cross_entropy' });
    expect(learner.steps.map(({ learningRate }) => learningRate)).toEqual([0.5, 1, 1]);
  });

  test('sends whole steps, whose weights sum to 1', async () => {
    const learner = new FakeLearner();
    const examples = [conversation(10, 1), conversation(11, 3)];
    const losses: unknown[] = [];
    const emit: SftRun['emit'] = (event) =>
      event.type === 'iteration' && losses.push(event.metrics['train/loss']);
    await trainSft(runOf(learner, examples, { emit }), never);
    expect(learner.batches.map((batch) => batch.length)).toEqual([2, 2, 2]);
    // The loss of this learner is the weight it was sent.
    expect(losses).toEqual([1, 1, 1]);
    expect(learner.steps).toHaveLength(3);
  });

  const idsSeen = (learner: FakeLearner) =>
    learner.batches.map((batch) => batch.map(({ tokens }) => tokens[1]));

  test('shows every example once per pass, shuffled in each, and resumes in the middle', async () => {
    const examples = [10, 11, 12, 13, 14].map((id) => conversation(id, 2));
    const run = async (from: number, to: number) => {
      const learner = new FakeLearner();
      const train = { ...options.train, iterations: to };
      const more = { options: { ...options, train }, from: { iteration: from } };
      await trainSft(runOf(learner, examples, more), never);
      return idsSeen(learner);
    };
    const whole = await run(0, 10);
    const passes = [0, 1, 2, 3].map((pass) => whole.flat().slice(pass * 5, pass * 5 + 5));
    for (const pass of passes)
      expect(pass.toSorted((a = 0, b = 0) => a - b)).toEqual([10, 11, 12, 13, 14]);
    expect(new Set(passes.map(String)).size).toBeGreaterThan(1);
    expect(await run(7, 10)).toEqual(whole.slice(7));
  });

  test('shuffles the examples once per pass, however many steps it has', async () => {
    let read = 0;
    const examples = new Proxy(
      Array.from({ length: 50 }, () => conversation(10, 1)),
      {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) read += 1;
          return Reflect.get(target, key, receiver) as unknown;
        },
      },
    );
    const train = { ...options.train, iterations: 40 };
    await trainSft(runOf(new FakeLearner(), examples, { options: { ...options, train } }), never);
    // Each is looked at before training. 80 examples: two passes of 50.
    expect(read).toBe(50 + 100);
  });

  test('finishes the current step when it is interrupted', async () => {
    const stop = new AbortController();
    const learner = new FakeLearner();
    const emit: SftRun['emit'] = ({ type }) => type === 'iteration' && stop.abort();
    const ended = await trainSft(runOf(learner, [conversation(10, 1)], { emit }), stop.signal);
    expect(ended).toEqual({ interrupted: true, state: { iteration: 1, loss: 1 } });
    expect(learner.steps).toHaveLength(1);
  });

  test('writes checkpoints at the interval, at the end and when interrupted, without duplicates', async () => {
    const asked = async (
      checkpointEvery: number,
      iterations: number,
      stopAfter = iterations + 1,
    ) => {
      const stop = new AbortController();
      const checkpoints: string[] = [];
      const train = { ...options.train, iterations };
      const run = runOf(new FakeLearner(), [conversation(10, 1)], {
        options: { ...options, train, checkpointEvery },
        emit: (event) =>
          event.type === 'iteration' && event.iteration === stopAfter && stop.abort(),
        save: async (reason, { iteration, loss }) => {
          checkpoints.push(`${reason} ${iteration} ${loss}`);
          return written;
        },
      });
      await trainSft(run, stop.signal);
      return checkpoints;
    };
    expect(await asked(2, 6)).toEqual(['periodic 2 1', 'periodic 4 1', 'last 6 1']);
    expect(await asked(2, 5)).toEqual(['periodic 2 1', 'periodic 4 1', 'last 5 1']);
    expect(await asked(0, 3)).toEqual(['last 3 1']);
    expect(await asked(2, 6, 3)).toEqual(['periodic 2 1', 'interrupted 3 1']);
  });

  /** An evaluation at which some of ten attempts succeed. */
  const evaluationOf = (successes: number): Promise<Evaluation> => {
    const tasks = Array.from({ length: 10 }, (_, i) => ({
      taskId: `task-${i}`,
      prompt: '',
      metadata: {},
    }));
    const rollouts = new ScriptedRollouts(({ task: { taskId } }) => {
      const success = Number(taskId.slice(5)) < successes;
      return played({ reward: Number(success), success });
    });
    return evaluate(rollouts, tasks, {
      samples: 1,
      temperature: 1,
      seed: 1,
      step: 0,
      signal: never,
    });
  };

  /** The steps after which a training of at most eight evaluates, and where it ends. */
  const evaluated = async (
    successes: readonly (number | undefined)[],
    from: SftState = { iteration: 0 },
  ) => {
    const asked: number[] = [];
    const run = runOf(new FakeLearner(), [conversation(10, 1)], {
      from,
      evaluate: async (iteration) => {
        asked.push(iteration);
        const solved = successes[asked.length - 1];
        return solved === undefined ? undefined : evaluationOf(solved);
      },
      options: {
        ...options,
        evaluateEvery: 3,
        train: { ...options.train, iterations: 8, until: { success: 0.4 } },
      },
    });
    const { state } = await trainSft(run, never);
    return { asked, state };
  };

  test('ends after the evaluation that reaches the target success', async () => {
    const { asked, state } = await evaluated([3, 4]);
    expect(asked).toEqual([3, 6]);
    expect(state).toEqual({ iteration: 6, loss: 1, evaluated: { iteration: 6, success: 0.4 } });
  });

  test('evaluates after its last step, and ends there without the target success', async () => {
    const { asked, state } = await evaluated([0, 1, 3]);
    expect(asked).toEqual([3, 6, 8]);
    expect(state.evaluated).toEqual({ iteration: 8, success: 0.3 });
  });

  test('makes an interrupted evaluation on resume, and ends if it reaches the target', async () => {
    const stopped = await evaluated([undefined], { iteration: 2 });
    expect(stopped.asked[0]).toBe(3);
    expect((await evaluated([4], { iteration: 3 })).asked).toEqual([3]);
    const ended = { iteration: 6, loss: 1, evaluated: { iteration: 6, success: 0.4 } };
    expect(await evaluated([], ended)).toEqual({ asked: [], state: ended });
  });

  test('records a step whose evaluation fails', async () => {
    const recorded: number[] = [];
    const kept: string[] = [];
    const run = runOf(new FakeLearner(), [conversation(10, 1)], {
      options: { ...options, evaluateEvery: 2 },
      evaluate: async () => {
        throw new Error('no sandbox');
      },
      emit: (event) => event.type === 'iteration' && recorded.push(event.iteration),
      save: async (reason, { iteration }) => {
        kept.push(`${reason} ${iteration}`);
        return written;
      },
    });
    await expect(trainSft(run, never)).rejects.toThrow('no sandbox');
    expect([recorded, kept]).toEqual([[1, 2], ['failed 2']]);
  });

  test('saves an evaluation made on resume at once', async () => {
    const kept: string[] = [];
    const run = runOf(new FakeLearner(), [conversation(10, 1)], {
      options: { ...options, evaluateEvery: 2 },
      from: { iteration: 2 },
      evaluate: () => evaluationOf(1),
      save: async (reason, { evaluated: { iteration } = { iteration: 0 } }) => {
        kept.push(`${reason} ${iteration}`);
        return written;
      },
    });
    await trainSft(run, never);
    expect(kept).toEqual(['periodic 2', 'last 3']);
  });

  test('evaluates at the same steps as the longer training', async () => {
    const train = { ...options.train, iterations: 4, plannedIterations: 8 };
    const asked: number[] = [];
    const run = runOf(new FakeLearner(), [conversation(10, 1)], {
      options: { ...options, train, evaluateEvery: 3 },
      evaluate: async (iteration: number): Promise<undefined> => void asked.push(iteration),
    });
    await trainSft(run, never);
    expect(asked).toEqual([3]);
  });

  test('refuses empty data', async () => {
    await expect(trainSft(runOf(new FakeLearner(), []), never)).rejects.toThrow(
      'no conversations to learn from',
    );
    const examples = [conversation(1, 1), conversation(1, 0)];
    await expect(trainSft(runOf(new FakeLearner(), examples), never)).rejects.toThrow(
      'Conversation 1 of 2 (counted from 0) has no assistant tokens',
    );
  });
});
