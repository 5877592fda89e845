import { describe, expect, test } from '@jest/globals';

import { Transcript, type TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { evaluate, type Evaluation } from '#agent_rl/trainer/evaluate.ts';
import { type SftRun, type SftState, trainSft } from '#agent_rl/trainer/train-sft.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';
import { options as grpo } from '#tests/support/grpo-trainer-setup.ts';
import { played } from '#tests/support/rollouts.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';

/** One user token, `said` assistant tokens marked by `id`, one tool token. */
const conversation = (id: number, said: number): TranscriptRecord => {
  const transcript = new Transcript();
  transcript.append('user', [1]);
  transcript.append('demonstration', Array<number>(said).fill(id));
  transcript.append('tool', [2]);
  return transcript.record();
};

const plain = { ...grpo.train, iterations: 3, warmupSteps: 2, maxGradNorm: 1 };

interface Given extends Partial<Omit<SftRun, 'options' | 'learner'>> {
  options?: Partial<SftRun['options']>;
  train?: Partial<SftRun['options']['train']>;
  /** The iteration in which it is interrupted. */
  stopAt?: number;
}

/** A training on one example unless others are given; what it records and keeps is of an iteration and its loss. */
async function trained({ options, train, stopAt, ...more }: Given = {}) {
  const learner = new FakeLearner();
  const stop = new AbortController();
  const recorded: string[] = [];
  const kept: string[] = [];
  const run: SftRun = {
    options: { seed: 1, batchSize: 2, ...options, train: { ...plain, ...train } },
    learner,
    examples: [conversation(10, 1)],
    emit: (event) => {
      if (event.type !== 'iteration') return;
      recorded.push(`${event.iteration} ${event.metrics['train/loss']}`);
      if (event.iteration === stopAt) stop.abort();
    },
    save: async (reason, { iteration, loss }) => {
      kept.push(`${reason} ${iteration} ${loss}`);
      return { path: '', weightsSha256: '' };
    },
    ...more,
  };
  const ended = await trainSft(run, stop.signal).catch((error: unknown) => ({ error }));
  return { learner, recorded, kept, ended };
}

describe('trainSft', () => {
  test('trains on assistant tokens in whole steps, each token with the same weight in a step', async () => {
    const examples = [conversation(10, 1), conversation(11, 3)];
    const { learner, recorded } = await trained({ examples });
    const weights = learner.batches.map((batch) =>
      batch.map((one) => Array.from(one.weights)).toSorted((a, b) => b.length - a.length),
    );
    const step = [
      [0, 0.25, 0.25, 0.25, 0],
      [0, 0.25, 0],
    ];
    expect(weights).toEqual([step, step, step]);
    expect(learner.losses[0]).toEqual({ name: 'cross_entropy' });
    expect(learner.steps.map(({ learningRate }) => learningRate)).toEqual([0.5, 1, 1]);
    // The loss of this learner is the weight it was sent.
    expect(recorded).toEqual(['1 1', '2 1', '3 1']);
  });

  test('shows every example once per pass, shuffled in each, and resumes in the middle', async () => {
    const examples = [10, 11, 12, 13, 14].map((id) => conversation(id, 2));
    const run = async (iteration: number, iterations: number) => {
      const given = { examples, from: { iteration }, train: { iterations } };
      const { learner } = await trained(given);
      return learner.batches.map((batch) => batch.map(({ tokens }) => tokens[1]));
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
    const all = Array.from({ length: 50 }, () => conversation(10, 1));
    const examples = new Proxy(all, {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) read += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    await trained({ examples, train: { iterations: 40 } });
    // Each is looked at before training. 80 examples: two passes of 50.
    expect(read).toBe(50 + 100);
  });

  test('finishes the current step when it is interrupted', async () => {
    const { learner, ended } = await trained({ stopAt: 1 });
    expect(ended).toEqual({ interrupted: true, state: { iteration: 1, loss: 1 } });
    expect(learner.steps).toHaveLength(1);
  });

  test.each([
    [2, 6, undefined, ['periodic 2 1', 'periodic 4 1', 'last 6 1']],
    [2, 5, undefined, ['periodic 2 1', 'periodic 4 1', 'last 5 1']],
    [0, 3, undefined, ['last 3 1']],
    [2, 6, 3, ['periodic 2 1', 'interrupted 3 1']],
  ])('writes each checkpoint once: %#', async (checkpointEvery, iterations, stopAt, expected) => {
    const given = { options: { checkpointEvery }, train: { iterations } };
    const { kept } = await trained({ ...given, ...(stopAt !== undefined && { stopAt }) });
    expect(kept).toEqual(expected);
  });

  /** An evaluation at which some of ten attempts succeed. */
  const evaluationOf = (successes: number): Promise<Evaluation> => {
    const names = Array.from({ length: 10 }, (_, i) => String(i));
    const tasks = names.map((taskId) => ({ taskId, prompt: '', metadata: {} }));
    const rollouts = new ScriptedRollouts(({ task: { taskId } }) =>
      played({ reward: Number(Number(taskId) < successes) }),
    );
    const { signal } = new AbortController();
    return evaluate(rollouts, tasks, { samples: 1, temperature: 1, seed: 1, step: 0, signal });
  };

  /** The steps after which a training of at most eight evaluates, and where it ends. */
  const evaluated = async (
    successes: readonly (number | undefined)[],
    from: SftState = { iteration: 0 },
    train: Given['train'] = { iterations: 8, until: { success: 0.4 } },
  ) => {
    const asked: number[] = [];
    const { ended, kept } = await trained({
      from,
      evaluate: async (iteration) => {
        asked.push(iteration);
        const solved = successes[asked.length - 1];
        return solved === undefined ? undefined : evaluationOf(solved);
      },
      options: { evaluateEvery: 3 },
      train,
    });
    return { asked, kept, state: 'state' in ended ? ended.state : undefined };
  };

  test('ends after the evaluation that reaches the target success', async () => {
    const { asked, state } = await evaluated([3, 4]);
    expect(asked).toEqual([3, 6]);
    expect(state).toEqual({ iteration: 6, loss: 1, evaluated: { iteration: 6, success: 0.4 } });
  });

  test('evaluates after its last step, and ends there without the target success', async () => {
    const { asked, state } = await evaluated([0, 1, 3]);
    expect(asked).toEqual([3, 6, 8]);
    expect(state?.evaluated).toEqual({ iteration: 8, success: 0.3 });
  });

  test('makes an interrupted evaluation on resume, saves it at once, and ends if it reaches the target', async () => {
    const stopped = await evaluated([undefined], { iteration: 2 });
    expect(stopped.asked[0]).toBe(3);
    expect((await evaluated([4], { iteration: 3 })).asked).toEqual([3]);
    const missed = await evaluated([1, 4], { iteration: 3, loss: 1 });
    expect(missed.kept).toEqual(['periodic 3 1', 'last 6 1']);
    const ended = { iteration: 6, loss: 1, evaluated: { iteration: 6, success: 0.4 } };
    expect(await evaluated([], ended)).toMatchObject({ asked: [], state: ended });
  });

  test('records a step whose evaluation fails', async () => {
    const fails = () => Promise.reject(new Error('no sandbox'));
    const options = { evaluateEvery: 2 };
    const { recorded, kept, ended } = await trained({ options, evaluate: fails });
    expect(ended).toEqual({ error: new Error('no sandbox') });
    expect([recorded, kept]).toEqual([['1 1', '2 1'], ['failed 2 1']]);
  });

  test('evaluates at the same steps as the longer training', async () => {
    const train = { iterations: 4, plannedIterations: 8 };
    expect((await evaluated([], { iteration: 0 }, train)).asked).toEqual([3]);
  });

  test.each([
    [[], 'no conversations to learn from'],
    [[conversation(1, 1), conversation(1, 0)], 'Conversation 1 of 2 (counted from 0)'],
  ])('refuses data without assistant tokens: %#', async (examples, message) => {
    const error = expect.objectContaining({ message: expect.stringContaining(message) });
    expect((await trained({ examples })).ended).toEqual({ error });
  });
});
