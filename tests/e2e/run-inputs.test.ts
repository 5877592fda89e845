import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { ResolvedRun } from '#agent_rl/compose/resolve-run.ts';
import { sourcesOf } from '#agent_rl/jobs/train/trainer-options.ts';
import { rewriteRunConfig, writeRunConfig } from '#agent_rl/runs/open-run.ts';
import type { Machine } from '#agent_rl/runs/inputs/machine.ts';
import {
  checkInputs,
  readInputs,
  recordMachine,
  writeInputs,
} from '#agent_rl/runs/inputs/run-inputs.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { readJson } from '../support/acme-project.ts';
import { resolved } from '../support/resolved.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { tinyAdapter, tinyAdapterWeights } from '../support/tiny-adapter.ts';
import { writeAdapter } from '#model/adapters/adapter-files.ts';
import { workspaceVersion } from '#dataset/workspace_tasks/generator/rows.ts';

const root = temporaryFolder();
const project = join(root, 'project');
const elsewhere = join(root, 'elsewhere');
const started = process.cwd();
const row = (task: string): string => `{"task_id": "${task}", "prompt": "Count to ${task}."}\n`;
const run = runFolderAt(join(project, 'runs', 'one'));
const configFile = join(project, 'run.yaml');
const load = (file: string, ...overrides: string[]) => loadConfig({ file, overrides }).config;
const splits = { tasks: { train: 'train', evaluation: 'eval' } };
const resolve = (file: string, ...overrides: string[]) => resolved(file, overrides, splits);

/** Writes what a run leaves of how it began. */
async function begin(begun: ResolvedRun): Promise<void> {
  writeRunConfig(run, begun.config);
  writeInputs(run, await readInputs(sourcesOf(begun)));
}

const check = async (file: string, ...overrides: string[]) =>
  checkInputs(run, sourcesOf(await resolve(file, ...overrides)));

/** Fails unless a resume is refused for these reasons. */
async function expectRefused(checking: Promise<unknown>, ...reasons: string[]): Promise<void> {
  const { code, message } = await rejectionOf(checking);
  expect(code).toBe('CHECKPOINT_INVALID');
  for (const reason of reasons) expect(message).toContain(reason);
}

/** Adds to a file of the project. */
const change = (...file: string[]): void => appendFileSync(join(project, ...file), ' ');

beforeAll(async () => {
  mkdirSync(project);
  mkdirSync(elsewhere);
  writeBelow(
    project,
    'run.yaml',
    'datasets: [{dir: tasks, format: plain}]\nenvironment: {type: code_exec}\ntools: [{type: code_exec}]\nmodel: {path: model}\n',
  );
  await writeSmallModel(join(root, 'model'));
});

beforeEach(async () => {
  process.chdir(project);
  for (const split of ['train', 'eval']) writeBelow(project, `tasks/${split}.jsonl`, row(split));
  cpSync(join(root, 'model'), join(project, 'model'), { recursive: true });
  writeBelow(project, 'model/README.md', 'first');
  // Same names with other contents, where a relative path would find them.
  cpSync(join(project, 'tasks'), join(elsewhere, 'tasks'), { recursive: true });
  writeBelow(elsewhere, 'tasks/train.jsonl', row('other'));
  cpSync(join(root, 'model'), join(elsewhere, 'model'), { recursive: true });
  writeBelow(elsewhere, 'model/generation_config.json', '{"bos_token_id": 1}');
  mkdirSync(run.path, { recursive: true });
  await begin(await resolve(configFile));
  process.chdir(elsewhere);
});

afterEach(() => process.chdir(started));

describe('The config of a run', () => {
  test('has absolute paths of tasks, model and outputs and is the same from any directory', async () => {
    const { datasets, model, run: names } = load(run.config);
    expect([datasets[0]?.dir, model.path, names.outputDir]).toEqual(
      ['tasks', 'model', 'runs'].map((name) => join(realpathSync(project), name)),
    );
    expect(await check(run.config)).toEqual([]);
  });

  test('is rewritten with the overrides of a resume, which lists the differences', () => {
    const longer = load(run.config, 'train.iterations=77', 'rollout.workers=3');
    expect(rewriteRunConfig(run, longer)).toEqual([
      expect.stringMatching(/^rollout\.workers: \d+ -> 3$/),
      expect.stringMatching(/^train\.iterations: \d+ -> 77$/),
    ]);
    expect(load(run.config).train.iterations).toBe(77);
    expect(rewriteRunConfig(run, load(run.config))).toEqual([]);
  });
});

describe('A resume', () => {
  test("is refused on another working directory's tasks of the same name", async () => {
    const there = join(realpathSync(elsewhere), 'tasks', 'train.jsonl');
    await expectRefused(check(configFile), there, 'the model it starts from');
    expect((await rejectionOf(check(configFile))).message).not.toContain('held-out');
  });

  test.each([
    ['tasks to train on', 'tasks/train.jsonl'],
    ['held-out tasks', 'tasks/eval.jsonl'],
    ['model it starts from', 'model/config.json'],
  ])('is refused on other %s', async (what, file) => {
    change(file);
    await expectRefused(check(run.config), `changed (by SHA-256): the ${what}, now `);
  });

  test('is refused with another seed', async () => {
    const other = check(run.config, 'run.seed=7');
    await expectRefused(other, 'with run.seed 7: it was started with seed 42');
  });
});

test.each([
  ['datasets.0.format=question', 'format of datasets.0, "plain" -> "question"'],
  ['datasets.0.columns={"prompt":"prompt"}', 'columns of datasets.0, none -> {"prompt":"prompt"}'],
  ['datasets.0.answerPattern=is (.+)', 'answerPattern of datasets.0, none -> "is (.+)"'],
])('is not resumed with %s, which makes other tasks of the same files', async (set, changed) => {
  const whole = await resolve(run.config);
  const sources = sourcesOf(whole);
  const { datasets } = load(run.config, set);
  const { readings } = sourcesOf({ ...whole, config: { ...whole.config, datasets } });
  const checking = checkInputs(run, { ...sources, readings });
  await expectRefused(checking, `tasks are read has changed (${changed})`);
  expect(await checkInputs(run, sources)).toEqual([]);
});

describe('A run with generated tasks', () => {
  const text = [
    'environment: {type: workspace}',
    'tools: [{type: code_exec}]',
    'model: {path: model}',
    'datasets: [{generator: {type: workspace, evalTasks: 2}}]',
    'rollout: {tasksPerStep: 2}',
    'train: {iterations: 1}',
  ].join('\n');
  const resolveMade = () => resolve(writeBelow(project, 'made.yaml', text));

  beforeEach(async () => {
    process.chdir(project);
    await begin(await resolveMade());
  });

  test('records the generator instead of hashes and can be resumed with it', async () => {
    expect(readJson(run.path, 'inputs.json')).toMatchObject({
      seed: 42,
      sha256: { trainTasks: [], evalTasks: [] },
      readings: [{ format: 'question' }],
      generators: [
        {
          datasets: 0,
          name: 'workspace',
          version: workspaceVersion,
          settings: { evalTasks: 2, slices: ['unseen pairs'] },
          seed: 42,
        },
      ],
    });
    process.chdir(elsewhere);
    expect(await check(run.config)).toEqual([]);
  });

  test('cannot be resumed with other settings, another version or task files', async () => {
    const { message } = await rejectionOf(check(run.config, 'datasets.0.generator.evalTasks=3'));
    expect(message).toMatch(
      /\(settings of datasets\.0: \{.*2.*\} -> \{.*3.*\}\)\. Restore the generator/,
    );
    const { generators = [], ...sources } = sourcesOf(await resolveMade());
    const later = generators.map((one) => Object.assign({}, one, { version: one.version + 1 }));
    const versions = `${workspaceVersion} -> ${workspaceVersion + 1}`;
    const changed = checkInputs(run, { ...sources, generators: later });
    await expectRefused(changed, `version of datasets.0: ${versions}`);
    const files = 'datasets.0: the task generator workspace -> no task generator';
    await expectRefused(checkInputs(run, sources), files);
  });
});

test('notes in the model folder may change', async () => {
  writeBelow(project, 'model/README.md', 'corrected');
  expect(await check(run.config)).toEqual([]);
});

test('pytorch_model.bin counts as an input only when its weights are read', async () => {
  const { model, ...sources } = sourcesOf(await resolve(configFile));
  const begun = async (base: string) => {
    const inputs = await readInputs({ ...sources, model: { ...model, base } });
    return inputs.sha256.startModel;
  };
  for (const [name, changes] of [
    ['bare', true],
    ['both', false],
  ] as const) {
    writeBelow(project, `${name}/config.json`, '{}');
    if (!changes) writeBelow(project, `${name}/model.safetensors`, 'weights');
    writeBelow(project, `${name}/pytorch_model.bin`, 'one');
    const before = await begun(join(project, name));
    writeBelow(project, `${name}/pytorch_model.bin`, 'two');
    expect((await begun(join(project, name))) !== before).toBe(changes);
  }
});

describe('A run on another machine', () => {
  /** As if it had begun there. */
  const began = async (there: Partial<Machine>): Promise<void> => {
    const inputs = await readInputs(sourcesOf(await resolve(run.config)));
    writeInputs(run, {
      ...inputs,
      machines: [{ ...inputs.machines[0]!, ...there }],
    });
  };
  const sourcesWith = async (...overrides: string[]) =>
    sourcesOf(await resolve(run.config, ...overrides));

  test.each([
    ['run.engineThreads=3', 'engine threads: 5 -> 3', '--engine-threads 5'],
    ['run.device=webgpu', 'device: cpu -> webgpu', '--device cpu'],
  ])('cannot be resumed with %s unless a flag allows it', async (override, changed, flag) => {
    await began({ engineThreads: 5 });
    const sources = await sourcesWith('run.engineThreads=5', override);
    const remedy = `Give ${flag}, or --allow-other-machine`;
    const checking = checkInputs(run, sources);
    await expectRefused(checking, `hardware settings changed (${changed})`, remedy);
    expect(await checkInputs(run, sources, true)).toEqual([
      `Allowed by --allow-other-machine: ${changed}.`,
    ]);
  });

  test('can be resumed on another processor, system and Node version, with a note', async () => {
    await began({ cpu: 'an older one', platform: 'darwin arm64', node: 'v1.0.0' });
    const { cpu, platform, node } = (await sourcesWith()).machine;
    expect(await check(run.config)).toEqual([
      `The run is resumed on a different system or machine (system: darwin arm64 -> ${platform}, processor: an older one -> ${cpu}, Node: v1.0.0 -> ${node}): its weights may have floating-point differences.`,
    ]);
  });

  test('is compared with the machine of its last session, and lists all machines', async () => {
    await began({ engineThreads: 5 });
    const { machine } = await sourcesWith('run.engineThreads=3');
    recordMachine(run, machine);
    const recorded = recordMachine(run, machine);
    expect(recorded.map(({ engineThreads }) => engineThreads)).toEqual([5, 3]);
    expect(await check(run.config, 'run.engineThreads=3')).toEqual([]);
  });
});

test('a run over several task sets cannot be resumed on other held-out tasks of the second set', async () => {
  process.chdir(project);
  for (const split of ['train', 'eval'])
    writeBelow(project, `more/${split}.jsonl`, row(`more-${split}`));
  const folders = 'datasets=[{dir: tasks, format: plain}, {dir: more, format: plain}]';
  await begin(await resolve(configFile, folders));
  process.chdir(elsewhere);
  change('more', 'eval.jsonl');
  const file = join(realpathSync(project), 'more', 'eval.jsonl');
  const reason = 'changed (by SHA-256): the held-out tasks, now ';
  await expectRefused(check(run.config), reason, file);
});

describe('A run over adapters', () => {
  const save = (name: string, under: string[] = []) =>
    writeAdapter(join(project, name), smallModelConfig, {
      adapter: tinyAdapter,
      parameters: tinyAdapterWeights(smallModelConfig),
      baseModel: join(realpathSync(project), 'model'),
      under,
    });
  const overAdapters = (...overrides: string[]) =>
    resolve(configFile, 'model.adapters=[lora]', ...overrides);
  beforeEach(async () => {
    await save('under');
    await save('lora', [join(realpathSync(project), 'under')]);
    process.chdir(project);
    await begin(await overAdapters());
    process.chdir(elsewhere);
  });

  test.each(['under', 'lora'])('cannot be resumed over other weights of %s', async (name) => {
    const file = join(project, name, 'adapter_model.safetensors');
    writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, -1), Buffer.from([7])]));
    const reason = 'changed (by SHA-256): the model it starts from';
    await expectRefused(check(run.config), reason, join(realpathSync(project), 'lora'));
  });

  test('cannot be resumed without them', async () => {
    await expectRefused(check(run.config, 'model.adapters=[]'));
  });

  test('cannot be resumed over a base model other than the one that the adapter names', async () => {
    process.chdir(project);
    await begin(await resolve(configFile, 'model.path=under'));
    process.chdir(elsewhere);
    expect(await check(run.config)).toEqual([]);
    writeBelow(project, 'model/generation_config.json', '{}');
    await expectRefused(check(run.config));
  });
});
