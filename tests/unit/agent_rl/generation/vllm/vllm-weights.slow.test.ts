import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { Generator } from '#agent_rl/core/services/generator.ts';
import type { Scorer } from '#agent_rl/core/services/scorer.ts';
import type { WeightRef } from '#agent_rl/core/services/weights.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { expectRejection, rejectionOf } from '#tests/support/thrown.ts';
import { openedVllm, writePublished } from '#tests/support/vllm/opened-vllm.ts';
import { ScoredModel } from '#tests/support/scored-model.ts';
import { startChaosProxy } from '#tests/support/chaos-proxy.ts';
import { until } from '#tests/support/until.ts';
import { VllmDouble } from '#tests/support/vllm/vllm-double.ts';
import { SafetensorsFile } from '#model/weights/safetensors.ts';

const folder = temporaryFolder();
const weightsFolder = join(folder, 'shared');
mkdirSync(weightsFolder);

const open = closedAfterEach();
async function started(count = 1, host: object = {}, settings: object = {}) {
  const doubles = await Promise.all(Array.from({ length: count }, () => VllmDouble.start()));
  const { generator, warnings } = await openedVllm(
    doubles.map(({ url }) => url),
    { weightsFolder, ...settings },
    host,
  );
  open.push(...doubles, generator);
  return { doubles, double: doubles[0]!, generator, warnings };
}
const scores = (weights: number) => new ScoredModel(weights, 1024);
/** What a server was asked under a path. */
const askedOf = ({ server }: VllmDouble, asked: string) =>
  server.requests.filter(({ path }) => path === asked).map(({ body }) => body);
const generatePath = '/inference/v1/generate';
const pathIn = (load: Record<string, unknown> | undefined): string =>
  (load!['kwargs'] as { weights_path: string }).weights_path;
/** A server behind a proxy that loses the first answer under a path, once it is `on`. */
async function losing(asked: string, host: object = {}) {
  const double = await VllmDouble.start();
  const lost = { on: false, count: 0 };
  const proxy = await startChaosProxy({
    target: double.url,
    faultOf: ({ path }) => (lost.on && path === asked && lost.count++ === 0 ? 'lose' : 'none'),
  });
  const { generator, warnings } = await openedVllm([proxy.url], {}, host);
  open.push(generator, proxy, double);
  lost.on = true;
  return { double, generator, warnings, lost };
}
/** Stops a server, and returns how another is started in its place. */
async function stopped(double: VllmDouble) {
  open.splice(open.indexOf(double), 1);
  const port = Number(new URL(double.url).port);
  await double.close();
  return async (): Promise<VllmDouble> => {
    const anew = await VllmDouble.start({ port });
    open.push(anew);
    return anew;
  };
}
async function published(weights: number, version = weights): Promise<WeightRef> {
  const location = join(folder, 'published', String(weights));
  return { version, kind: 'folder', location: await writePublished(location, weights) };
}
const failsToUse = async (generator: Generator, weights: number, words: RegExp) =>
  expectRejection(
    generator.use!(await published(weights), undefined, scores(weights)),
    'GENERATION_FAILED',
    words,
  );
function adapter(weights: number): WeightRef {
  const location = join(folder, 'adapters', String(weights));
  mkdirSync(location, { recursive: true });
  writeFileSync(join(location, 'adapter_config.json'), JSON.stringify({ weights }));
  return { version: weights, kind: 'folder', location };
}

describe('A whole model', () => {
  test('is loaded in a pause, named, and drawn from under its version', async () => {
    const { double, generator } = await started();
    await generator.use!(await published(3), undefined, scores(3));
    const paths = double.server.requests.map(({ path }) => path).join(' ');
    expect(paths).toContain(
      '/pause?mode=keep /collective_rpc /update_weight_version /reset_prefix_cache /resume',
    );
    expect([double.models.get('starter'), double.paused]).toEqual([3, false]);
    expect(await generator.generate(request('one'))).toMatchObject({ version: 3 });
  });

  test('fails when the learner has no number for a token', async () => {
    const { generator } = await started();
    const scorer: Scorer = {
      score: async (all) => all.map(({ length }) => new Float32Array(length).fill(Number.NaN)),
    };
    const thrown = await rejectionOf(generator.use!(await published(3), undefined, scorer));
    expect(String(thrown)).toMatch(/and NaN in the run's model/);
  });

  test('is stored in the shared folder with its own head and removed after the next', async () => {
    const { double, generator } = await started();
    const pathOf = (count: number): string => pathIn(askedOf(double, '/collective_rpc')[count]);
    await generator.use!(await published(1), undefined, scores(1));
    const first = pathOf(0);
    expect(first.startsWith(weightsFolder)).toBe(true);
    const held = (name: string): unknown => JSON.parse(readFileSync(join(first, name), 'utf8'));
    expect(held('config.json')).toEqual({ weights: 1, tie_word_embeddings: false });
    expect(held('model.safetensors.index.json')).toEqual({
      metadata: {},
      weight_map: {
        'model.embed_tokens.weight': 'model.safetensors',
        'lm_head.weight': 'head.safetensors',
      },
    });
    const head = await SafetensorsFile.open(join(first, 'head.safetensors'));
    expect([...(await head.readFloats(head.entries[0]!))]).toEqual([1, 2, 3, 4, 5, 6]);
    await head.close();
    await generator.use!(await published(2), undefined, scores(2));
    expect([existsSync(first), existsSync(pathOf(1))]).toEqual([false, true]);
    await generator.close();
    expect(readdirSync(weightsFolder)).toEqual([]);
  });

  test('is named to servers by their own path of the folder', async () => {
    const { double, generator } = await started(1, {}, { weightsFolderOnServers: '/mnt/weights' });
    // That folder is not here, as it would not be there if the setting were wrong.
    await failsToUse(generator, 1, /version 1.*collective_rpc answered 500/);
    const path = pathIn(askedOf(double, '/collective_rpc')[0]);
    expect(path).toMatch(/^\/mnt\/weights\/agent-rl-[0-9a-f]{8}\/1$/);
    expect(double.paused).toBe(false);
  });

  test('fails when fixed tokens score differently, with both numbers', async () => {
    const { double, generator } = await started();
    double.deaf = true;
    const { message } = await rejectionOf(generator.use!(await published(4), undefined, scores(4)));
    expect(message).toContain('No server of the generator accepted version 4');
    const numbers =
      /Token (\d+) at position 4 .* (-\S+) on the server and (-\S+) in the run's model\. /;
    const [, token, theirs, ours] = numbers.exec(message) ?? [];
    const prompt = askedOf(double, generatePath)
      .map((body) => body['token_ids'] as number[])
      .findLast(({ length }) => length === 4)!;
    expect(Number(theirs)).toBe(scores(0).logProbs(prompt, 1)[Number(token)]);
    expect(Number(ours)).toBe(Math.fround(scores(4).logProbs(prompt, 1)[Number(token)]!));
  });

  test('fails when nothing has changed, however small the expected change', async () => {
    const { double, generator } = await started(1, {}, { tolerance: 100 });
    await generator.use!(await published(1), undefined, scores(1));
    double.deaf = true;
    await failsToUse(generator, 2, /still has its previous weights/);
  });

  test('is sent again to a restarted server before its next request', async () => {
    const { double, generator, warnings } = await started();
    await generator.use!(await published(5), undefined, scores(5));
    const before = await generator.generate(request('one'));
    double.models.set('starter', 0);
    double.version = 'default';
    expect(await generator.generate(request('one'))).toEqual(before);
    expect(warnings).toEqual([
      expect.stringMatching(
        /sampled from weights default instead of .* sends the weights to this server again/,
      ),
      expect.stringContaining('is back in use'),
    ]);
  });
});

describe('An adapter', () => {
  test('has a new name for each version, and the newest two are requested by theirs', async () => {
    const { double, generator } = await started(1, { newAdapter: true });
    expect((await generator.describe()).versionsAtOnce).toBe(2);
    for (const version of [1, 2, 3])
      await generator.use!(adapter(version), undefined, scores(version));
    const loads = askedOf(double, '/v1/load_lora_adapter').slice(-3);
    const names = loads.map((body) => body['lora_name']) as string[];
    const suffixes = names.map((name) => /-step-\d$/.exec(name)?.[0]);
    expect(suffixes).toEqual(['-step-1', '-step-2', '-step-3']);
    expect([...double.models.keys()]).toEqual(['starter', names[1], names[2]]);
    for (const [wanted, name] of [
      [undefined, names[2]],
      [3, names[2]],
      [2, names[1]],
    ] as const) {
      const { version } = await generator.generate({ ...request('one'), version: wanted });
      expect([version, double.server.requests.at(-1)?.body['model']]).toEqual([wanted ?? 3, name]);
    }
    await expectRejection(
      generator.generate({ ...request('one'), version: 1 }),
      'GENERATION_FAILED',
      /has no adapter with version 1 of the weights/,
    );
  });

  test('is not loaded twice when the answer to its loading was lost', async () => {
    const { generator, lost } = await losing('/v1/load_lora_adapter', { newAdapter: true });
    await generator.use!(adapter(4), undefined, scores(4));
    expect(await generator.generate(request('one'))).toMatchObject({ version: 4 });
    expect(lost.count).toBe(2);
  });

  test('is loaded again when the server has lost it', async () => {
    const { double, generator, warnings } = await started(1, { newAdapter: true });
    for (const version of [2, 3])
      await generator.use!(adapter(version), undefined, scores(version));
    const drawn = () =>
      Promise.all([2, 3].map((version) => generator.generate({ ...request('one'), version })));
    const before = await drawn();
    for (const name of double.models.keys()) if (name !== 'starter') double.models.delete(name);
    expect(await drawn()).toEqual(before);
    expect(warnings[0]).toMatch(/sends the weights to this server again/);
  });

  test('is refused when a whole model should be trained', async () => {
    const { generator } = await started();
    const thrown = await rejectionOf(generator.use!(adapter(1), undefined, scores(1)));
    expect(String(thrown)).toMatch(/an adapter in .* the run trains a whole model/);
  });
});

describe('The pool of several servers', () => {
  test('excludes a server that does not load and tries it with the next weights', async () => {
    const { doubles, generator, warnings } = await started(2);
    const [first, second] = doubles as [VllmDouble, VllmDouble];
    second.deaf = true;
    await generator.use!(await published(1), undefined, scores(1));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/out of use: .*wrong weights.*the next weights.*the other server/s);
    const asks = (double: VllmDouble): number => askedOf(double, generatePath).length;
    const before = asks(second);
    for (const one of ['a', 'b', 'c']) await generator.generate(request(one));
    expect(asks(second)).toBe(before);
    second.deaf = false;
    await generator.use!(await published(2), undefined, scores(2));
    expect(warnings.at(-1)).toMatch(/is back in use/);
    for (const one of ['d', 'e']) await generator.generate(request(one));
    expect(asks(second)).toBeGreaterThan(before + 8);
    expect(first.models.get('starter')).toBe(2);
  });

  test('sends the weights again when the only server breaks the connection during the load', async () => {
    const { double, generator, warnings, lost } = await losing('/collective_rpc');
    await generator.use!(await published(1), undefined, scores(1));
    expect(await generator.generate(request('one'))).toMatchObject({ version: 1 });
    expect([lost.count, double.models.get('starter'), double.paused]).toEqual([2, 1, false]);
    expect(warnings.join('\n')).toMatch(/is out of use: .*waiting up to 20 s\./);
  });

  test('publishes without waiting for a hanging server, which gets the newest weights on its return', async () => {
    const { doubles, generator, warnings } = await started(2, {}, { deadlineS: 5 });
    const [first, second] = doubles as [VllmDouble, VllmDouble];
    let hangs = true;
    second.instead = ({ path }) => (hangs && path !== '/resume' ? () => undefined : undefined);
    await generator.use!(await published(1), undefined, scores(1));
    expect(warnings[0]).toMatch(/is out of use: .*no answer within 5 s/);
    const asked = second.server.requests.length;
    const changes = () =>
      second.server.requests.slice(asked).filter(({ path }) => path !== '/health').length;
    for (const version of [2, 3])
      await generator.use!(await published(version), undefined, scores(version));
    expect([changes(), first.models.get('starter')]).toEqual([0, 3]);
    expect((await generator.generate(request('one'))).version).toBe(3);
    hangs = false;
    await until(() => warnings.some((one) => one.endsWith(`${second.url} is back in use.`)));
    expect([second.models.get('starter'), second.version]).toEqual([3, first.version]);
  });

  test('gives the newest weights to a server that returns during a publication', async () => {
    const { doubles, generator, warnings } = await started(2, {}, { deadlineS: 5 });
    const [, second] = doubles as [VllmDouble, VllmDouble];
    await generator.use!(await published(1), undefined, scores(1));
    const isBack = (): boolean => warnings.some((one) => one.endsWith('is back in use.'));
    second.version = 'default';
    let goOn: (() => void) | undefined;
    second.instead = async ({ path }) => {
      if (path === '/collective_rpc' && goOn === undefined)
        await new Promise<void>((resolve) => (goOn = resolve));
      return undefined;
    };
    for (const one of ['a', 'b']) await generator.generate(request(one));
    await until(() => goOn !== undefined);
    await generator.use!(await published(2), undefined, scores(2));
    expect(isBack()).toBe(false);
    goOn!();
    await until(isBack);
    expect(second.models.get('starter')).toBe(2);
  });

  test('ends a publication when it is aborted, whatever hangs', async () => {
    const { double, generator } = await started(1, {}, { deadlineS: 600 });
    const stop = new AbortController();
    double.instead = ({ path }) => {
      if (path !== '/collective_rpc') return undefined;
      stop.abort(new Error('Ctrl-C'));
      return () => undefined;
    };
    const use = generator.use!(await published(1), stop.signal, scores(1));
    await expect(use).rejects.toThrow('Ctrl-C');
    expect(double.paused).toBe(false);
  });

  test('keeps an episode on its server and puts others on the server with fewer', async () => {
    const { doubles, generator } = await started(2);
    const episodes = ['a', 'b', 'c', 'd'];
    for (let turn = 0; turn < 3; turn++)
      await Promise.all(
        episodes.map((one, i) => generator.generate(request(one, { tokens: [900 + i, turn] }))),
      );
    const tokensOf = doubles.map((double) =>
      askedOf(double, generatePath)
        .map((body) => (body['token_ids'] as number[])[0]!)
        .filter((token) => token >= 900 && token < 904),
    );
    expect(tokensOf.map(({ length }) => length)).toEqual([6, 6]);
    for (const tokens of tokensOf) expect(new Set(tokens).size).toBe(2);
  });

  test('moves episodes of a dead server to the other and uses it again when it is back', async () => {
    const { doubles, generator, warnings } = await started(2);
    await generator.use!(await published(7), undefined, scores(7));
    const episodes = Array.from({ length: 8 }, (_, i) => `e${i}`);
    const turn = () => Promise.all(episodes.map((one) => generator.generate(request(one))));
    await turn();
    const doomed = doubles[0]!;
    const startAnew = await stopped(doomed);
    const made = await turn();
    for (const { tokens, version } of made) expect([tokens.length, version]).toEqual([6, 7]);
    expect(warnings.join('\n')).toMatch(/is out of use: .*the other server/);
    const anew = await startAnew();
    await until(() => warnings.some((one) => one.endsWith(`${doomed.url} is back in use.`)));
    // It was given the weights first.
    expect(anew.models.get('starter')).toBe(7);
  });

  test('keeps a server that returns after a step of the learner out until both agree', async () => {
    const { doubles, generator, warnings } = await started(2);
    let learned = 7;
    const learner: Scorer = { score: (sequences) => scores(learned).score(sequences) };
    await generator.use!(await published(7), undefined, learner);
    const [doomed] = doubles as [VllmDouble, VllmDouble];
    const startAnew = await stopped(doomed);
    for (const one of ['a', 'b', 'c']) await generator.generate(request(one));
    learned = 8;
    await startAnew();
    const told = (text: string) => () => warnings.filter((one) => one.includes(text)).length;
    const doubted = told('the learner may have changed its weights');
    await until(() => doubted() > 0);
    // It is checked again, without a line each time.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const isBack = told(`${doomed.url} is back in use.`);
    expect([doubted(), isBack()]).toEqual([1, 0]);
    learned = 7;
    await until(() => isBack() > 0);
  });

  test('fails the request when all servers are gone for too long, with a reason for each', async () => {
    const { doubles, generator } = await started(2, {}, { patienceS: 0.3 });
    for (const double of doubles) await double.close();
    open.splice(0, 2);
    const { code, message } = await rejectionOf(generator.generate(request('one')));
    expect(code).toBe('GENERATION_FAILED');
    for (const { url } of doubles) expect(message).toContain(`${url}: `);
  });
});
