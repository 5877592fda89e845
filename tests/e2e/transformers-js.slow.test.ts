import { join } from 'node:path';
import { cpSync } from 'node:fs';

import { beforeAll, describe, expect, test, afterAll, afterEach } from '@jest/globals';
import { Tensor, type PreTrainedModel } from '@huggingface/transformers';

import { openAgent } from '#agent_rl/compose/open-agent.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { resolveRun } from '#agent_rl/compose/resolve-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Rollout } from '#agent_rl/core/rollout.ts';
import { drawnSpans } from '#agent_rl/core/transcript.ts';
import { evaluate } from '#agent_rl/trainer/evaluate.ts';
import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import { succeeded } from '../support/built-program.ts';
import { cpuEngine } from '../support/cpu-engine.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  type Generation,
  type GenerationRequest,
  type Sampler,
  greedy,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { openTransformersJs } from '#agent_rl/generation/transformers-js/open-transformers-js.ts';
import { TransformersJsGenerator } from '#agent_rl/generation/transformers-js/transformers-js-generator.ts';
import { openLanguageModelFolder } from '#model/text/language-model.ts';
import { loadModel } from '#model/weights/load-model.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { errorOf, rejectionOf } from '../support/thrown.ts';

const root = packageRoot();
const folder = temporaryFolder();
const starter = join(root, 'model', 'starter');
const exported = join(folder, 'starter-onnx');
const policy = ['--policy-type', 'transformers-js', '--model', exported];

const agentRl = residentProgram('agent-rl');
beforeAll(async () => {
  const args = ['model', 'export', '--model', starter, '--output', exported];
  succeeded(await agentRl(args, folder));
});

/** The first tasks of the eval split, each attempted once at temperature 0. */
async function attempts(settings: readonly string[]): Promise<{
  rollouts: readonly Rollout[];
  opensEngine: boolean;
}> {
  const file = join(root, 'configs', 'code_exec_grpo.yaml');
  const overrides = [...settings, 'rollout.workers=4', 'run.engineThreads=1', 'sandbox.workers=1'];
  const prepared = await prepareRun({ file, overrides, flags: [] });
  const { dir = '' } = prepared.loaded.config.datasets[0]!;
  const split = await CodeTaskDataset.fromPath(join(root, dir, 'eval.jsonl'));
  const tasks = split.tasks.slice(0, 6);
  const { signal } = new AbortController();
  const run = await resolveRun(prepared, {
    signal,
    print: () => undefined,
    trains: false,
    tasks: { evaluation: 'eval' },
  });
  const { workers } = run.config.rollout;
  const agent = await openAgent(run, { workers, trains: false, signal });
  try {
    const rollouts: Rollout[] = [];
    await evaluate(agent.rollouts, tasks, {
      samples: 1,
      temperature: 0,
      seed: 1,
      step: 0,
      signal: new AbortController().signal,
      onRollout: (rollout) => rollouts.push(rollout),
    });
    const byTask = rollouts.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1));
    return { rollouts: byTask, opensEngine: agent.model?.engines.length === 1 };
  } finally {
    await agent.close();
  }
}

describe('The policy transformers-js', () => {
  test('plays the episodes that the engine plays with the same weights', async () => {
    const here = await attempts([`model.path=${starter}`]);
    const there = await attempts(['policy.type=transformers-js', `model.path=${exported}`]);
    expect([here.opensEngine, there.opensEngine]).toEqual([true, false]);
    expect(here.rollouts).toHaveLength(6);
    const seen = ({ taskId, outcome, parts }: Rollout) => ({
      taskId,
      outcome,
      parts: parts.map(({ sequences, reward }) => [
        sequences.map(({ tokens, spans }) => [tokens, spans]),
        reward,
      ]),
    });
    expect(there.rollouts.map(seen)).toEqual(here.rollouts.map(seen));
    // More than prompts: most episodes call the sandbox and go on with what it said.
    const turns = there.rollouts.map(
      ({ parts }) => parts.flatMap(({ sequences }) => drawnSpans(sequences).flat()).length,
    );
    expect(Math.max(...turns)).toBeGreaterThan(1);
  });

  test('can be evaluated from the command line', async () => {
    const limits = ['--set', 'eval.maxTasks=3', '--sandbox-workers', '1', '--json'];
    const { code, stdout } = await agentRl(['eval', ...policy, ...limits], folder);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ model: exported, tasks: 3, systemFailures: 0 });
  });
});

const options = {
  modelFolder: exported,
  device: 'cpu',
  threads: 1,
  maxContextTokens: 600,
  dtype: 'fp32',
} as const;

const { tokenizer, stopTokens } = await openLanguageModelFolder(starter);
const prompt = tokenizer.encodeTemplate(
  '<|im_start|>user\nWrite add(a, b).<|im_end|>\n<|im_start|>assistant\n',
);

const engine = cpuEngine();
let local: LocalGenerator;
let generator: TransformersJsGenerator;
beforeAll(async () => {
  const { config, parameters } = await loadModel(starter);
  local = new LocalGenerator(new DecoderPrograms(engine, config, 600), {
    rows: 8,
    maxContextTokens: 600,
  });
  await local.setWeights(parameters, 0);
  generator = await openTransformersJs(options);
});
afterAll(() => generator.close());

/** Episodes of the test that runs, which hold rows of the engine's generator. */
const episodes = new Set<string>();
afterEach(() => {
  for (const each of [local, generator]) for (const one of episodes) each.release(one);
  episodes.clear();
});

const request = (
  episode: string,
  tokens: readonly number[],
  over: Partial<GenerationRequest> = {},
): GenerationRequest => ({
  episode,
  tokens,
  maxTokens: 40,
  stopTokens,
  sampling: greedy,
  key: { seed: 3, taskId: episode, sample: 0, turn: 0 },
  ...over,
});

/** The same requests to both, their log-probabilities apart. */
async function both(one: GenerationRequest): Promise<{ here: Generation; there: Generation }> {
  episodes.add(one.episode);
  const [here, there] = await Promise.all(
    [local, generator].map((each: Sampler) => each.generate(one)),
  );
  return { here: here!, there: there! };
}

describeGeneratorContract('A generator on transformers.js', {
  open: () => openTransformersJs(options),
  vocabSize: 1024,
});

describe('A generator on transformers.js', () => {
  test.each([
    ['greedy', greedy],
    ['sampled', unbiased],
    ['cooler', { ...unbiased, temperature: 0.6 }],
    ['truncated', { ...unbiased, topK: 20, topP: 0.9 }],
  ])('samples what the engine samples: %s', async (name, sampling) => {
    for (const sample of [0, 1, 2]) {
      const key = { seed: 3, taskId: name, sample, turn: 0 };
      const { here, there } = await both(request(`${name} ${sample}`, prompt, { sampling, key }));
      expect(there.tokens).toEqual(here.tokens);
      expect(there).toMatchObject({ stop: here.stop, version: 0 });
      for (const [i, logProb] of here.logProbs.entries()) {
        expect(Math.abs(there.logProbs[i]! - logProb)).toBeLessThan(1e-4);
      }
    }
  });

  test('samples an abandoned turn again from its beginning', async () => {
    const whole = await generator.generate(request('whole', prompt, { maxTokens: 10 }));
    const abort = new AbortController();
    const doomed = generator.generate(request('again', prompt, { stopTokens: [] }), abort.signal);
    setTimeout(() => abort.abort(), 30);
    await doomed;
    const key = { seed: 3, taskId: 'whole', sample: 0, turn: 0 };
    const again = await generator.generate(request('again', prompt, { maxTokens: 10, key }));
    expect(again.tokens).toEqual(whole.tokens);
  });

  test('gives the same result when it feeds a long prompt in pieces', async () => {
    const long = Array.from({ length: 560 }, (_, i) => prompt[i % prompt.length]!);
    const { here, there } = await both(request('long', long, { stopTokens: [] }));
    expect(there.tokens).toEqual(here.tokens);
    // 600 rounded up to a multiple of 16.
    expect(there).toMatchObject({ stop: 'max-tokens' });
    const full = await both(request('full', long, { stopTokens: [], maxTokens: 100 }));
    expect(full.there.tokens).toHaveLength(608 - 560);
    expect(full.there.tokens).toEqual(full.here.tokens);
    expect(full.there.stop).toBe('context-full');
  });

  test('forgets an episode that is released while the model runs', async () => {
    const forward = (): Promise<Record<string, Tensor>> => {
      released.release('gone');
      const logits = new Tensor('float32', [0, 1], [1, 1, 2]);
      return Promise.resolve({ logits, 'present.0.key': logits });
    };
    const model = { forward, dispose: () => Promise.resolve() } as unknown as PreTrainedModel;
    const released = new TransformersJsGenerator(model, Tensor, 64);
    const first = await released.generate(request('gone', [1, 2]));
    expect(first).toMatchObject({ tokens: [], stop: 'aborted' });
    // Were it kept, these would not continue it.
    expect(await released.generate(request('gone', [5, 6]))).toEqual(first);
  });

  test('refuses a context that does not continue its episode', async () => {
    await generator.generate(request('changed', prompt, { maxTokens: 2 }));
    const other = [9, ...prompt, 7, 7, 7];
    expect(await rejectionOf(generator.generate(request('changed', other)))).toMatchObject(
      errorOf('GENERATION_FAILED', 'does not continue'),
    );
  });
});

describe('Opening a generator on transformers.js', () => {
  test('names the missing file of another width', async () => {
    expect(await rejectionOf(openTransformersJs({ ...options, dtype: 'q8' }))).toMatchObject(
      errorOf('MODEL_INVALID', 'onnx/model_quantized.onnx'),
    );
  });

  test('names a damaged model', async () => {
    const damaged = join(folder, 'damaged');
    cpSync(exported, damaged, { recursive: true });
    cpSync(join(exported, 'config.json'), join(damaged, 'onnx', 'model.onnx'));
    const error = await rejectionOf(openTransformersJs({ ...options, modelFolder: damaged }));
    expect(error).toMatchObject(errorOf('MODEL_INVALID', `${damaged} cannot be opened`));
  });

  test('names the missing package and unknown devices', async () => {
    const absent = () => Promise.reject(new Error('Cannot find package'));
    expect(await rejectionOf(openTransformersJs(options, absent))).toMatchObject(
      errorOf('PLUGIN_LOAD_FAILED', 'npm install @huggingface/transformers@4.3.1'),
    );
    expect(
      await rejectionOf(openTransformersJs({ ...options, device: 'tensorflow' })),
    ).toMatchObject(errorOf('CONFIG_INVALID', 'cpu, cuda or webgpu'));
  });
});
