import { join, resolve } from 'node:path';

import { expect, test } from '@jest/globals';

import { prepareRun } from '../../../../agent_rl/compose/prepare-run.ts';
import { requireTrainablePolicy } from '../../../../agent_rl/compose/resolve-run.ts';
import { modelResolvers } from '../../../../agent_rl/compose/resolve-model.ts';
import { packageRoot } from '../../../../agent_rl/core/package-root.ts';
import { train } from '../../../../agent_rl/jobs/train/train.ts';
import { resolved } from '../../../support/resolved.ts';
import { temporaryFolder, writeBelow } from '../../../support/temporary-folder.ts';
import { thrownBy } from '../../../support/thrown.ts';

const folder = temporaryFolder();
const file = writeBelow(
  folder,
  'run.yaml',
  'environment: {type: code_exec}\ntools: [{type: code_exec}]\ndataset: {dir: tasks}\n',
);
const preparedWith = (type: string) => prepareRun({ file, overrides: [`policy.type=${type}`] });

test('a policy with a generator of its own is refused where training would begin, with its place', async () => {
  const { loaded, chosen } = await preparedWith('transformers-js');
  const error = thrownBy(() => requireTrainablePolicy(loaded, chosen));
  expect(error).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(
      /policy\.type=transformers-js policy\.type: policy transformers-js brings its own generator/,
    ),
  });
});

test.each(['minimind', 'huggingface'])('%s is trained', async (type) => {
  const { loaded, chosen } = await preparedWith(type);
  expect(() => requireTrainablePolicy(loaded, chosen)).not.toThrow();
});

test('a training run finds its weights, text folder and model description once each', async () => {
  const counts = new Map<string, number>();
  const counting = Object.entries(modelResolvers).map(([name, resolver]) => {
    const counted = (...args: unknown[]) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return (resolver as (...given: unknown[]) => unknown)(...args);
    };
    return [name, counted] as const;
  });
  const prepared = await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides: ['eval.before=false', 'eval.after=false', 'train.iterations=1'],
    flags: [
      { source: 'test', path: 'run.outputDir', value: folder },
      { source: 'test', path: 'run.logLevel', value: 'error' },
    ],
  });
  const job = {
    ...prepared,
    signal: new AbortController().signal,
    print: () => undefined,
    dryRun: false,
    resolvers: Object.fromEntries(counting) as typeof modelResolvers,
  };
  expect(await train(job)).toMatchObject({ iterations: 1 });
  expect(Object.fromEntries(counts)).toEqual({
    localLayers: 1,
    describeLayers: 1,
    textFolder: 1,
    openLanguageModelFolder: 1,
  });
});

test('paths in the blocks of tools are absolute in the config of a run and in the settings it uses', async () => {
  const run = await resolved(join(packageRoot(), 'configs', 'search_qa_grpo.yaml'), [], {
    tasks: { evaluation: 'eval' },
  });
  const inConfig = run.config.tools[0] as unknown as { corpus: Record<string, string> };
  const used = run.chosen.tools[0]?.settings as typeof inConfig;
  for (const { corpus } of [inConfig, used]) {
    expect(corpus['path']).toBe(resolve('.cache/search_corpus'));
    expect(corpus['documents']).toBe(
      join(packageRoot(), 'dataset', 'search_corpus', 'documents.jsonl'),
    );
  }
});
