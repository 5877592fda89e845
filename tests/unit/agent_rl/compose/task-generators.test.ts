import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { resolveTasks, type TaskRequest } from '#agent_rl/compose/resolve-tasks.ts';
import { taskGenerator, type TaskGenerator } from '#agent_rl/core/tasks/task-generator.ts';
import { sourcesOf } from '#agent_rl/jobs/train/trainer-options.ts';
import { chooseSelection } from '#dataset/tasks/selection-tasks.ts';
import { mostMadeAhead, planOf } from '#dataset/tasks/task-sets.ts';
import { problemPaths } from '#tests/support/problem-places.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

interface Settings {
  /** The index whose training task is also evaluated on; none by default. */
  leak?: number;
  /** The index whose training task has no answer to compare with. */
  blank?: number;
}

const integer = { type: 'integer' };
@taskGenerator({
  name: 'doubles',
  description: 'Numbers that are to be doubled.',
  version: 4,
  taskFormat: 'question',
  settings: { type: 'object', properties: { leak: integer, blank: integer } },
})
class Doubles implements TaskGenerator {
  readonly #settings: Settings;

  constructor({ settings }: { settings: Settings }) {
    this.#settings = settings;
  }

  train(seed: number, index: number) {
    const { leak, blank } = this.#settings;
    if (index === leak) return { task_id: `t${index}`, question: 'Twice 3?', answer: 6 };
    const answer = index === blank ? '!' : String(2 * index);
    return { task_id: `t${index}`, question: `Twice ${index} of ${seed}?`, answer };
  }

  evaluation() {
    return [{ task_id: 'e0', question: 'Twice 3?', answer: 6 }];
  }
}

const folder = temporaryFolder();
const row = (id: string) => `{"task_id":"${id}","question":"${id}?","answer":"4"}`;
writeBelow(folder, 'maths/train.jsonl', row('a'));
writeBelow(folder, 'maths/eval.jsonl', row('b'));

const both: TaskRequest = { train: 'train', evaluation: 'eval' };

const length = { rollout: { tasksPerStep: 3 }, train: { iterations: 4 } };
const preparedWith = (settings: object) =>
  prepareRun({
    file: 'run.yaml',
    settings: { environment: { type: 'question' }, ...length, run: { seed: 9 }, ...settings },
    exported: [Doubles],
  });

async function tasksWith(settings: object, request = both) {
  const { loaded, chosen } = await preparedWith(settings);
  return resolveTasks(loaded.config, chosen, { ...request, print: () => undefined });
}

const generator = (settings: Settings = {}) => ({ generator: { type: 'doubles', ...settings } });
const ids = (tasks: readonly { taskId: string }[]) => tasks.map(({ taskId }) => taskId);

describe('The tasks of a generator', () => {
  test('the planned tasks are generated ahead, and later ones when they are drawn', async () => {
    const { sets, train, evaluation, rewarded } = await tasksWith({ datasets: [generator()] });
    expect(ids(train)).toEqual(Array.from({ length: 12 }, (_, index) => `t${index}`));
    expect(rewarded).toEqual(train);
    expect(ids(evaluation)).toEqual(['e0']);
    expect(train[2]?.prompt).toBe('Twice 2 of 9?');
    const plan = planOf(sets, { seed: 9 });
    expect(ids(plan.tasksAt(11, 3))).toEqual(['t11', 't12', 't13']);
    expect(plan.sizes).toEqual(['doubles (version 4)']);
  });

  test('a short session also generates the planned tasks, up to a limit', async () => {
    const datasets = [generator()];
    const short = await tasksWith({ datasets, train: { iterations: 4, maxIterations: 1 } });
    expect(short.train).toHaveLength(12);
    const long = await tasksWith({ datasets, train: { iterations: 10_000 } });
    expect(long.train).toHaveLength(mostMadeAhead);
  });

  test('an evaluation task among them is refused before the run or when it is drawn', async () => {
    const early = await rejectionOf(tasksWith({ datasets: [generator({ leak: 7 })] }));
    expect(early).toMatchObject(errorOf('DATASET_INVALID', '"e0" (same prompt as "t7")'));
    const { sets } = await tasksWith({ datasets: [generator({ leak: 12 })] });
    const plan = planOf(sets, { seed: 9 });
    expect(ids(plan.tasksAt(9, 3))).toEqual(['t9', 't10', 't11']);
    expect(thrownBy(() => plan.tasksAt(12, 3)).message).toContain('"e0" (same prompt as "t12")');
  });

  test('a task that the environment cannot judge is refused before the run or when it is drawn', async () => {
    const early = await rejectionOf(tasksWith({ datasets: [generator({ blank: 7 })] }));
    expect(early.message).toContain('Task "t7":');
    const leaks = generator({ blank: 7, leak: 6 });
    const together = await rejectionOf(tasksWith({ datasets: [leaks] }));
    expect(together.message).toContain('Task "t7":');
    const { sets } = await tasksWith({ datasets: [generator({ blank: 12 })] });
    const late = thrownBy(() => planOf(sets, { seed: 9 }).tasksAt(12, 1));
    expect(late).toMatchObject(errorOf('DATASET_INVALID', 'Task "t12":'));
  });

  test('each split can be evaluated by its name', async () => {
    const of = (evaluation: string) => tasksWith({ datasets: [generator()] }, { evaluation });
    expect((await of('train')).evaluation).toHaveLength(12);
    expect(ids((await of('eval')).evaluation)).toEqual(['e0']);
    expect((await rejectionOf(of('test'))).code).toBe('CONFIG_INVALID');
  });

  test('the weights mix them with tasks of folders, and each source is reported', async () => {
    const { sets, train, evaluation } = await tasksWith({
      datasets: [{ dir: `${folder}/maths` }, { ...generator(), weight: 2 }],
    });
    expect(ids(evaluation)).toEqual(['b', 'e0']);
    expect(evaluation.map(({ metadata }) => metadata['set'])).toEqual(['maths', 'doubles']);
    // Two thirds of 12 draws.
    expect(ids(train)).toEqual(['a', ...Array.from({ length: 8 }, (_, index) => `t${index}`)]);
    const drawn = planOf(sets, { seed: 9 }).tasksAt(0, 12);
    expect(drawn.filter(({ metadata }) => metadata['set'] === 'doubles')).toHaveLength(8);
  });

  test('a task that chooses the best checkpoint is never drawn for training', async () => {
    const { sets } = await tasksWith({ datasets: [generator()] });
    const chosen = ids(chooseSelection(sets, { count: 5, seed: 9 }));
    expect(new Set(chosen).size).toBe(5);
    const drawn = planOf(sets, { seed: 9 }).tasksAt(0, 1000);
    expect(ids(drawn).filter((id) => chosen.includes(id))).toEqual([]);
    const datasets = [{ dir: `${folder}/maths` }, { ...generator(), weight: 3 }];
    const mixed = await tasksWith({ datasets });
    expect(() => chooseSelection(mixed.sets, { count: 4, seed: 9 })).toThrow(
      'no task of a data set would be left for training',
    );
  });
});

test('the inputs of a run with a generator contain its name, version, settings and seed, without files', async () => {
  const { loaded, chosen } = await preparedWith({ datasets: [generator({ leak: 99 })] });
  const model = { layers: { base: folder, adapters: [] } };
  const run = { config: loaded.config, chosen, model, policies: new Map() };
  expect(sourcesOf(run as unknown as Parameters<typeof sourcesOf>[0])).toMatchObject({
    trainFiles: [],
    evalFiles: [],
    readings: [{ format: 'question' }],
    generators: [{ datasets: 0, name: 'doubles', version: 4, settings: { leak: 99 }, seed: 9 }],
  });
});

describe('The settings of a generator', () => {
  const problemsOf = async (one: object) =>
    problemPaths((await rejectionOf(preparedWith({ datasets: [one] }))).message);

  test('each setting is checked, and the generator must exist', async () => {
    const workspace = { generator: { type: 'workspace', slices: ['none'] } };
    const at = 'datasets.0.generator';
    expect(await problemsOf({ generator: { type: 'double' } })).toEqual([`${at}.type`]);
    expect(await problemsOf(workspace)).toEqual([`${at}.slices.0`]);
    expect(await problemsOf(generator({ other: 1 } as Settings))).toEqual([`${at}.other`]);
  });

  test('settings of files have no effect, which is reported', async () => {
    const { loaded } = await prepareRun({
      file: 'run.yaml',
      settings: {
        environment: { type: 'workspace' },
        tools: [{ type: 'code_exec' }],
        datasets: [{ generator: { type: 'workspace' } }],
        dataset: { trainSplit: 'other', maxSamples: 4, shuffle: false },
      },
      training: true,
    });
    const said = loaded.warnings.find((warning) => warning.includes('come from generators'));
    for (const setting of ['trainSplit', 'maxSamples', 'shuffle'])
      expect(said).toContain(`dataset.${setting}`);
  });
});
