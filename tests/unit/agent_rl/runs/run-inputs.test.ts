import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import {
  checkRunInputs,
  rewriteRunConfig,
  runInputs,
  writeRunConfig,
} from '../../../../agent_rl/runs/run-inputs.ts';
import { startingWeights } from '../../../../agent_rl/compose/model-request.ts';
import { type Config, loadConfig } from '../../../../agent_rl/config/index.ts';
import { packageRoot } from '../../../../agent_rl/core/package-root.ts';
import { runFolderAt } from '../../../../agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '../../../support/temporary-folder.ts';
import { rejectionOf } from '../../../support/thrown.ts';

const root = temporaryFolder();
const project = join(root, 'project');
const elsewhere = join(root, 'elsewhere');
const started = process.cwd();
const row = (task: string): string => `{"task_id": "${task}", "prompt": "Count."}\n`;
const run = runFolderAt(join(project, 'runs', 'one'));
const configFile = join(project, 'run.yaml');
const load = (file: string, ...overrides: string[]) => loadConfig({ file, overrides }).config;

const begun = async (config: Config) =>
  runInputs(config, (await startingWeights(config)).layers);
const check = async (config: Config) =>
  checkRunInputs(run, config, (await startingWeights(config)).layers);

function writeModel(folder: string, weights: string): void {
  writeBelow(folder, 'config.json', '{}');
  writeBelow(folder, 'model.safetensors', weights);
  writeBelow(folder, 'README.md', weights);
}

beforeAll(() => {
  mkdirSync(project);
  mkdirSync(elsewhere);
  writeBelow(
    project,
    'run.yaml',
    'dataset: {dir: tasks}\nenvironment: {type: code_exec}\nmodel: {path: model}\n',
  );
});

beforeEach(async () => {
  process.chdir(project);
  for (const split of ['train', 'eval']) writeBelow(project, `tasks/${split}.jsonl`, row(split));
  writeModel(join(project, 'model'), 'first');
  // Same names with other contents, where a relative path would find them.
  cpSync(join(project, 'tasks'), join(elsewhere, 'tasks'), { recursive: true });
  writeBelow(elsewhere, 'tasks/train.jsonl', row('other'));
  writeModel(join(elsewhere, 'model'), 'other');
  mkdirSync(run.path, { recursive: true });
  const config = load(configFile);
  writeRunConfig(run, config, await begun(config));
  process.chdir(elsewhere);
});

afterEach(() => process.chdir(started));

describe("a run's own config", () => {
  test('names tasks, model and outputs by absolute paths, and is the same from anywhere', async () => {
    const { datasets, model, run: names } = load(run.config);
    expect([datasets[0]?.dir, model.path, names.outputDir]).toEqual(
      ['tasks', 'model', 'runs'].map((name) => join(realpathSync(project), name)),
    );
    expect(await check(load(run.config))).toEqual([]);
  });

  test('names what ships with the package where it lies', () => {
    const shipped = load(configFile, 'dataset.dir=dataset/code_tasks', 'model.path=model/starter');
    writeRunConfig(run, shipped);
    const { datasets, model } = load(run.config);
    const folder = join(packageRoot(), 'dataset', 'code_tasks');
    expect(datasets).toEqual([{ dir: folder, weight: 1 }]);
    expect(model.path).toBe(join(packageRoot(), 'model', 'starter'));
    expect(isAbsolute(folder)).toBe(true);
  });

  test('is rewritten with what a resume overrides, and says what differs', () => {
    const longer = load(run.config, 'train.iterations=77', 'rollout.workers=3');
    expect(rewriteRunConfig(run, longer)).toEqual([
      expect.stringMatching(/^rollout\.workers: \d+ -> 3$/),
      expect.stringMatching(/^train\.iterations: \d+ -> 77$/),
    ]);
    expect(load(run.config).train.iterations).toBe(77);
    expect(rewriteRunConfig(run, load(run.config))).toEqual([]);
  });
});

describe('a run is not continued', () => {
  const refused = (config = load(run.config)) => rejectionOf(check(config));

  test('on the tasks that another working directory holds under the same name', async () => {
    const { code, message } = await refused(load(configFile));
    expect(code).toBe('CHECKPOINT_INVALID');
    expect(message).toContain(join(realpathSync(elsewhere), 'tasks', 'train.jsonl'));
    expect(message).toContain('the model it starts from');
    expect(message).not.toContain('held-out');
  });

  test.each([
    ['tasks to train on', 'tasks/train.jsonl'],
    ['held-out tasks', 'tasks/eval.jsonl'],
    ['model it starts from', 'model/model.safetensors'],
  ])('on other %s', async (what, file) => {
    writeFileSync(join(project, file), `${readFileSync(join(project, file), 'utf8')} `);
    const { code, message } = await refused();
    expect(code).toBe('CHECKPOINT_INVALID');
    expect(message).toContain(`by SHA-256, is the ${what}, now `);
  });

  test('with another seed', async () => {
    const { message } = await refused(load(run.config, 'run.seed=7'));
    expect(message).toContain('with run.seed 7: it began with 42');
  });
});

test('notes beside the model may change', async () => {
  writeBelow(project, 'model/README.md', 'corrected');
  expect(await check(load(run.config))).toEqual([]);
});

describe('a run over adapters', () => {
  const adapter = { peft_type: 'LORA', r: 2, lora_alpha: 4, target_modules: ['q_proj'] };
  beforeEach(async () => {
    for (const [name, weights] of [
      ['under', 'one'],
      ['lora', 'two'],
    ] as const) {
      writeBelow(project, `${name}/adapter_config.json`, JSON.stringify(adapter));
      writeBelow(project, `${name}/adapter_model.safetensors`, weights);
    }
    const under = { adapters: [join(realpathSync(project), 'under')] };
    writeBelow(project, 'lora/trained-over.json', JSON.stringify(under));
    process.chdir(project);
    const config = load(configFile, 'model.adapters=[lora]');
    writeRunConfig(run, config, await begun(config));
    process.chdir(elsewhere);
  });

  test('names them by absolute paths', async () => {
    const config = load(run.config);
    expect(config.model.adapters).toEqual([join(realpathSync(project), 'lora')]);
    expect(await check(config)).toEqual([]);
  });

  test.each(['under', 'lora'])('is not continued over other weights of %s', async (name) => {
    writeBelow(project, `${name}/adapter_model.safetensors`, 'three');
    const { code, message } = await rejectionOf(check(load(run.config)));
    expect(code).toBe('CHECKPOINT_INVALID');
    expect(message).toContain('is the model it starts from');
    expect(message).toContain(join(realpathSync(project), 'lora'));
  });

  test('is not continued without them', async () => {
    const { code } = await rejectionOf(check(load(run.config, 'model.adapters=[]')));
    expect(code).toBe('CHECKPOINT_INVALID');
  });

  test('is not continued over another model under an adapter that names it', async () => {
    const named = { ...adapter, base_model_name_or_path: join(realpathSync(project), 'model') };
    writeBelow(project, 'under/adapter_config.json', JSON.stringify(named));
    process.chdir(project);
    const config = load(configFile, 'model.path=under');
    writeRunConfig(run, config, await begun(config));
    process.chdir(elsewhere);
    expect(await check(load(run.config))).toEqual([]);
    writeBelow(project, 'model/model.safetensors', 'another');
    const { code } = await rejectionOf(check(load(run.config)));
    expect(code).toBe('CHECKPOINT_INVALID');
  });
});
