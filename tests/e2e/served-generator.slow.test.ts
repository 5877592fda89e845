import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { GeneratorHost } from '#agent_rl/core/plugins/model/generator.ts';
import { type Scorer, scorerOf } from '#agent_rl/core/services/scorer.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { servedGenerator } from '#agent_rl/generation/served/open-served.ts';
import { serveModel } from '#agent_rl/jobs/serve/serve-model.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { readModelConfig } from '#model/config/model-config.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { sets, startProgram, type StartedProgram } from '../support/built-program.ts';
import { cpuEngine } from '../support/cpu-engine.ts';
import { episodesIn } from '../support/journal.ts';
import { servingOptions } from '../support/serving.ts';
import { generatorHost } from '../support/generator-host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { errorOf, rejectionOf } from '../support/thrown.ts';

const folder = temporaryFolder();
const file = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');
const starter = join(packageRoot(), 'model', 'starter');
const threads = { 'run.engineThreads': 1 };

const servers: StartedProgram[] = [];
afterAll(() => {
  for (const server of servers) server.kill();
  return Promise.all(servers.map(({ ended }) => ended));
});

/** `agent-rl serve` in a process of its own. */
async function serve(port = 0): Promise<{ url: string; server: StartedProgram }> {
  const words = ['serve', '--config', file, '--model', starter, '--accept-weights'];
  const more = ['--port', String(port), ...sets('run.engineThreads=1')];
  const server = startProgram('agent-rl', [...words, ...more], folder, { timeoutMs: 600_000 });
  servers.push(server);
  return { url: await server.wrote(/http:\/\/[\w.:]+(?=\/v1)/), server };
}

const train = (name: string, settings: Readonly<Record<string, unknown>>) =>
  trainAgent({
    config: file,
    overrides: {
      ...threads,
      'run.outputDir': join(folder, name),
      'eval.before': false,
      'eval.after': false,
      ...settings,
    },
  });

/** What the episodes of a run were, without their times. */
const playedIn = async (run: unknown) =>
  (await episodesIn(String(run), 'train')).map(
    ({ taskId, sample, step, seed, sequences, reward }) => {
      return { taskId, sample, step, seed, sequences, reward };
    },
  );

test('a training whose generator is in another process has the tokens, log-probabilities and weights of a single process, even when the server is restarted', async () => {
  const here = await train('here', {});
  const first = await serve();
  const { port } = new URL(first.url);
  const there = train('there', { 'generator.type': 'served', 'generator.url': first.url });
  let restarted: Promise<unknown> | undefined;
  for await (const event of there) {
    if (event.type !== 'iteration' || restarted !== undefined) continue;
    first.server.kill();
    restarted = first.server.ended.then(() => serve(Number(port)));
  }
  const ended = await there;
  await restarted;
  expect(ended['weightsSha256']).toBe(here['weightsSha256']);
  const [own, others] = [await playedIn(here['run']), await playedIn(ended['run'])];
  expect(own.length).toBeGreaterThan(8);
  expect(others).toEqual(own);
  const log = readFileSync(join(String(ended['run']), 'run.log'), 'utf8');
  expect(log).toContain('Sending them again');
});

describe('The command agent-rl serve', () => {
  const stop = new AbortController();
  const running: Promise<unknown>[] = [];
  let accepting = '';
  let keeping = '';
  const start = async (acceptWeights: boolean, more: readonly string[] = []): Promise<string> => {
    const short = ['policy.maxContextTokens=64', 'rollout.maxEpisodeTokens=64'];
    const overrides = [...short, 'policy.maxTurnTokens=32', ...more];
    const options = await servingOptions(stop.signal, overrides);
    return new Promise((resolve, reject) => {
      const served = serveModel({
        ...options,
        requests: 16,
        acceptWeights,
        onListening: resolve,
      });
      running.push(served.catch(() => undefined));
      served.catch(reject);
    });
  };
  beforeAll(async () => {
    accepting = await start(true);
    keeping = await start(false);
  });
  afterAll(async () => {
    stop.abort();
    await Promise.all(running);
  });

  const open = (over: Partial<GeneratorHost> = {}, url = accepting) =>
    servedGenerator(
      { url, deadlineS: 60, patienceS: 0, tolerance: 1e-3, compareInEvaluation: true },
      generatorHost(starter, { signal: stop.signal, ...over }),
    );

  const otherWeights = join(folder, 'other');
  beforeAll(async () => {
    const config = readModelConfig(JSON.parse(readFileSync(join(starter, 'config.json'), 'utf8')));
    const parameters = initialParameters(config, new KeyedRng(1));
    await saveModel(otherWeights, { config, parameters, storedDtype: 'F32' });
  });
  const engine = cpuEngine();
  const scorerWith = async (modelFolder: string): Promise<Scorer> => {
    const { config, parameters } = await loadModel(modelFolder);
    return scorerOf(new LocalLearner(engine, config, parameters, { microBatchTokens: 256 }));
  };
  describeGeneratorContract('A generator behind a server', {
    open: () => open(),
    vocabSize: 1024,
    weights: [starter, otherWeights],
  });

  test.each([
    ['has another vocabulary', { vocabSize: 6400 }, 'a vocabulary of 1024 tokens'],
    ['has no adapter', { newAdapter: true }, 'model.lora'],
    ['takes fewer requests', { episodes: 64 }, '--requests 64'],
    [
      'has another tokenizer',
      { textFolder: join(packageRoot(), 'model', 'search-starter') },
      'does not use the tokenizer',
    ],
  ])('is refused when it %s', async (_title, over, words) => {
    expect(await rejectionOf(open(over))).toMatchObject(errorOf('CONFIG_INVALID', words));
  });

  test('is accepted for evaluation but not for training when it keeps its weights', async () => {
    expect((await rejectionOf(open({}, keeping))).message).toContain('--accept-weights');
    const notes: string[] = [];
    const warn = (text: string): void => void notes.push(text);
    const scorer = await scorerWith(starter);
    const generator = await open({ trains: false, scorer, warn }, keeping);
    expect(await generator.describe()).toMatchObject({ takes: [], maxContextTokens: 64 });
    await generator.close();
    const compared = expect.stringMatching(/and of the run's model differ by up to [\d.e-]+ nats/);
    expect(notes).toEqual([expect.stringMatching(/packs its weights .*by rounding/), compared]);
    notes.length = 0;
    await (await open({ trains: false, scorer, warn }, accepting)).close();
    // One whose weights may be replaced does not pack them.
    expect(notes).toEqual([compared]);
  });

  test.each([true, false])(
    'is refused with other weights than the run evaluates, accepting others: %s',
    async (accepts) => {
      const scorer = await scorerWith(otherWeights);
      const opening = open({ trains: false, scorer }, accepts ? accepting : keeping);
      expect(await rejectionOf(opening)).toMatchObject(
        errorOf('GENERATION_FAILED', /has the wrong weights.*Serve the run's model/),
      );
    },
  );

  test("is refused at the start when its contexts are shorter than the run's", async () => {
    const settings = {
      'generator.type': 'served',
      'generator.url': accepting,
      'rollout.workers': 4,
    };
    expect(await rejectionOf(train('short', settings))).toMatchObject(
      errorOf('CONFIG_INVALID', /context length of 64 tokens.*--set policy\.maxContextTokens=\d+/),
    );
  });

  test('is reported as unreachable at the start', async () => {
    expect(await rejectionOf(open({}, 'http://127.0.0.1:9'))).toMatchObject(
      errorOf('CONFIG_INVALID', 'Start agent-rl serve at this address first'),
    );
  });

  const asked = async (method: string, path: string, type: string, body: string | Buffer) => {
    const headers = { 'content-type': type };
    const response = await fetch(accepting + path, { method, headers, body });
    return { status: response.status, text: await response.text() };
  };
  const put = async (path: string, body: string | Buffer): Promise<number> =>
    (await asked('PUT', path, 'application/octet-stream', body)).status;
  const post = (path: string, body: object) =>
    asked('POST', path, 'application/json', JSON.stringify(body));
  const [me, other] = [randomUUID(), randomUUID()];

  test('accepts no file outside its folder or damaged on the way', async () => {
    expect(await put(`/agent_rl/weights/${me}/..%2F..%2Fx`, 'x')).toBe(404);
    expect(await put('/agent_rl/weights/../x', 'x')).toBe(404);
    expect(await put(`/agent_rl/weights/${me}/config.json`, '{}')).toBe(200);
    const files = { 'config.json': '0'.repeat(64) };
    const use = await post('/agent_rl/weights', { client: me, version: 1, files });
    expect(use).toMatchObject({ status: 409, text: expect.stringContaining('arrived damaged') });
    expect(await put(`/agent_rl/weights/${other}/config.json`, '{}')).toBe(409);
    expect((await post('/agent_rl/leave', { client: me })).status).toBe(200);
    expect(await put(`/agent_rl/weights/${other}/config.json`, '{}')).toBe(200);
    await post('/agent_rl/leave', { client: other });
  });

  test('refuses a client whose name could be guessed', async () => {
    expect(await put('/agent_rl/weights/me/config.json', '{}')).toBe(404);
    for (const client of ['me', 'c1', '00000000-0000-0000-0000-000000000000'])
      expect(await post('/agent_rl/leave', { client })).toMatchObject({ status: 400 });
  });

  const config = readFileSync(join(starter, 'config.json'));
  const weights = readFileSync(join(starter, 'model.safetensors'));
  const endlessHeader = Buffer.alloc(4096);
  endlessHeader.writeBigUInt64LE(2n ** 47n);
  /** The model's weights, of which the first is not a number. */
  const notNumbers = Buffer.from(weights);
  const header = Number(weights.readBigUInt64LE());
  notNumbers.fill(0xff, 8 + header, 16 + header);

  test.each<[string, Readonly<Record<string, Buffer>>, RegExp]>([
    [
      'a header of 2^47 bytes',
      { 'config.json': config, 'model.safetensors': endlessHeader },
      /header should have 140737488355328 bytes, but 4088 follow/,
    ],
    [
      'what is not a number',
      { 'config.json': config, 'model.safetensors': notNumbers },
      /holds NaN at place 0; weights must be finite/,
    ],
    [
      'another model',
      {
        'config.json': Buffer.from(
          String(config).replace(/"num_hidden_layers": \d+/, '"num_hidden_layers": 1'),
        ),
        'model.safetensors': weights,
      },
      /The weights in the folder do not fit its config\.json/,
    ],
  ])('refuses %s with the reason and continues with its weights', async (_what, files, why) => {
    const hashes: Record<string, string> = {};
    for (const [name, content] of Object.entries(files)) {
      expect(await put(`/agent_rl/weights/${me}/${name}`, content)).toBe(200);
      hashes[name] = createHash('sha256').update(content).digest('hex');
    }
    const use = await post('/agent_rl/weights', { client: me, version: 1, files: hashes });
    expect(use).toMatchObject({ status: 400, text: expect.stringMatching(why) });
    expect(use.text).not.toContain(me);
    await post('/agent_rl/leave', { client: me });
    const drawn = await post('/agent_rl/generate', { ...generation, episode: randomUUID() });
    expect(drawn.status).toBe(200);
  });

  const generation = {
    client: other,
    episode: 'e',
    tokens: [1],
    maxTokens: 1,
    stopTokens: [],
    sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
    key: { seed: 1, taskId: 't', sample: 0, turn: 0 },
  };

  test('samples only from weights that it has received', async () => {
    const body = { ...generation, client: me, version: 3 };
    expect(await post('/agent_rl/generate', body)).toMatchObject({
      status: 409,
      text: expect.stringContaining('other_weights'),
    });
    const unknown = await post('/agent_rl/generate', { ...body, tokens: [5000] });
    expect(unknown).toMatchObject({ status: 400, text: expect.stringContaining('vocabulary') });
  });
});
