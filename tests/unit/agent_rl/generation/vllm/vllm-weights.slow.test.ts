import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { Scorer } from '#agent_rl/core/services/scorer.ts';
import type { WeightRef } from '#agent_rl/core/services/weights.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { request } from '#tests/support/generation-request.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
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
async function published(weights: number, version = weights): Promise<WeightRef> {
  const location = join(folder, 'published', String(weights));
  return { version, kind: 'folder', location: await writePublished(location, weights) };
}
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
    const paths = double.server.requests.map(({ path }) => path);
    const at = paths.indexOf('/pause?mode=keep');
    expect(paths.slice(at, at + 5)).toEqual([
      '/pause?mode=keep',
      '/collective_rpc',
      '/update_weight_version',
      '/reset_prefix_cache',
      '/resume',
    ]);
    expect([double.models.get('starter'), double.paused]).toEqual([3, false]);
    const { version, tokens } = await generator.generate(request('one'));
    expect([version, tokens.length]).toEqual([3, 6]);
  });

  test('fails when the learner has no number for a token', async () => {
    const { generator } = await started();
    const scorer = {
      score: async (sequences: readonly Int32Array[]) =>
        sequences.map(({ length }) => new Float32Array(length).fill(Number.NaN)),
    };
    const thrown = await rejectionOf(generator.use!(await published(3), undefined, scorer));
    expect(String(thrown)).toMatch(/gives it NaN/);
  });

  test('is stored in the shared folder with its own head and removed after the next', async () => {
    const { double, generator } = await started();
    const pathOf = (count: number): string => {
      const loads = double.server.requests.filter(({ path }) => path === '/collective_rpc');
      return (loads[count]!.body['kwargs'] as { weights_path: string }).weights_path;
    };
    await generator.use!(await published(1), undefined, scores(1));
    const first = pathOf(0);
    expect(first.startsWith(weightsFolder)).toBe(true);
    const config = JSON.parse(readFileSync(join(first, 'config.json'), 'utf8')) as object;
    expect(config).toEqual({ weights: 1, tie_word_embeddings: false });
    const index = JSON.parse(
      readFileSync(join(first, 'model.safetensors.index.json'), 'utf8'),
    ) as object;
    expect(index).toEqual({
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
    const thrown = await rejectionOf(generator.use!(await published(1), undefined, scores(1)));
    const load = double.server.requests.find(({ path }) => path === '/collective_rpc');
    expect((load!.body['kwargs'] as { weights_path: string }).weights_path).toMatch(
      /^\/mnt\/weights\/agent-rl-[0-9a-f]{8}\/1$/,
    );
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(/version 1.*collective_rpc answered 500/);
    expect(double.paused).toBe(false);
  });

  test('fails when fixed tokens score differently, with both numbers', async () => {
    const { double, generator } = await started();
    double.deaf = true;
    const thrown = await rejectionOf(generator.use!(await published(4), undefined, scores(4)));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    const [, token, theirs, ours] =
      /token (\d+), drawn at position 4 .* the log-probability (\S+), but the run's model gives it (\S+)\. /.exec(
        String(thrown),
      ) ?? [];
    const prompt = double.server.requests
      .filter(({ path }) => path === '/inference/v1/generate')
      .map(({ body }) => body['token_ids'] as number[])
      .findLast(({ length }) => length === 4)!;
    expect(Number(theirs)).toBe(scores(0).logProbs(prompt, 1)[Number(token)]);
    expect(Number(ours)).toBe(Math.fround(scores(4).logProbs(prompt, 1)[Number(token)]!));
  });

  test('fails when nothing has changed, however small the expected change', async () => {
    const { double, generator } = await started(1, {}, { tolerance: 100 });
    await generator.use!(await published(1), undefined, scores(1));
    double.deaf = true;
    const thrown = await rejectionOf(generator.use!(await published(2), undefined, scores(2)));
    expect(String(thrown)).toMatch(/still has its previous weights/);
  });

  test('is sent again to a restarted server before its next request', async () => {
    const { double, generator, warnings } = await started();
    await generator.use!(await published(5), undefined, scores(5));
    const before = await generator.generate(request('one'));
    double.models.set('starter', 0);
    double.version = 'default';
    expect(await generator.generate(request('one'))).toEqual(before);
    expect(warnings).toEqual([
      expect.stringMatching(/drew from weights default instead of .* weights are sent again/),
      expect.stringContaining('is back in use'),
    ]);
  });
});

describe('An adapter', () => {
  test('has a new name for each version, is requested by it, and replaces the previous one', async () => {
    const { double, generator } = await started(1, { newAdapter: true });
    await generator.use!(adapter(1), undefined, scores(1));
    await generator.use!(adapter(2), undefined, scores(2));
    const names = double.server.requests
      .filter(({ path }) => path === '/v1/load_lora_adapter')
      .map(({ body }) => body['lora_name'])
      .slice(-2) as string[];
    expect(names.map((name) => /-step-\d$/.exec(name)?.[0])).toEqual(['-step-1', '-step-2']);
    expect([...double.models.keys()]).toEqual(['starter', names[1]]);
    expect((await generator.generate(request('one'))).version).toBe(2);
    expect(double.server.requests.at(-1)?.body['model']).toBe(names[1]);
  });

  test('is not loaded twice when the answer to its loading was lost', async () => {
    const double = await VllmDouble.start();
    let [isOpen, lost] = [false, 0];
    const proxy = await startChaosProxy({
      target: double.url,
      faultOf: ({ path }) =>
        isOpen && path === '/v1/load_lora_adapter' && lost++ === 0 ? 'lose' : 'none',
    });
    const { generator } = await openedVllm([proxy.url], {}, { newAdapter: true });
    open.push(generator, proxy, double);
    isOpen = true;
    await generator.use!(adapter(4), undefined, scores(4));
    expect(await generator.generate(request('one'))).toMatchObject({ version: 4 });
    expect(lost).toBe(2);
  });

  test('is loaded again when the server has lost it', async () => {
    const { double, generator, warnings } = await started(1, { newAdapter: true });
    await generator.use!(adapter(3), undefined, scores(3));
    const before = await generator.generate(request('one'));
    for (const name of double.models.keys()) if (name !== 'starter') double.models.delete(name);
    expect(await generator.generate(request('one'))).toEqual(before);
    expect(warnings[0]).toMatch(/weights are sent again/);
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
    expect(warnings).toEqual([
      expect.stringMatching(
        /out of use: .*wrong weights.*tried again with the next weights.*the other server/s,
      ),
    ]);
    const asks = (double: VllmDouble): number =>
      double.server.requests.filter(({ path }) => path === '/inference/v1/generate').length;
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

  test('ends the run when no server loads the weights', async () => {
    const { doubles, generator } = await started(2);
    for (const double of doubles) double.deaf = true;
    const thrown = await rejectionOf(generator.use!(await published(1), undefined, scores(1)));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    expect(String(thrown)).toMatch(/No server of the generator accepted version 1/);
  });

  test('sends the weights again when the only server breaks the connection during the load', async () => {
    const double = await VllmDouble.start();
    let broken = 0;
    const proxy = await startChaosProxy({
      target: double.url,
      faultOf: ({ path }) => (path === '/collective_rpc' && broken++ === 0 ? 'lose' : 'none'),
    });
    const { generator, warnings } = await openedVllm([proxy.url]);
    open.push(generator, proxy, double);
    await generator.use!(await published(1), undefined, scores(1));
    expect(await generator.generate(request('one'))).toMatchObject({ version: 1 });
    expect([broken, double.models.get('starter'), double.paused]).toEqual([2, 1, false]);
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
    let isLoading = false;
    let go = (): void => undefined;
    const published2 = new Promise<void>((resolve) => (go = resolve));
    second.instead = async ({ path }) => {
      if (path !== '/collective_rpc' || isLoading) return undefined;
      isLoading = true;
      await published2;
      return undefined;
    };
    for (const one of ['a', 'b']) await generator.generate(request(one));
    await until(() => isLoading);
    await generator.use!(await published(2), undefined, scores(2));
    expect(isBack()).toBe(false);
    go();
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
    const askedOf = doubles.map(({ server }) =>
      server.requests
        .filter(({ path }) => path === '/inference/v1/generate')
        .map(({ body }) => (body['token_ids'] as number[])[0]!)
        .filter((token) => token >= 900 && token < 904)
        .toSorted((a, b) => a - b),
    );
    expect(askedOf.map(({ length }) => length)).toEqual([6, 6]);
    for (const tokens of askedOf) expect(new Set(tokens).size).toBe(2);
  });

  test('moves episodes of a dead server to the other and uses it again when it is back', async () => {
    const { doubles, generator, warnings } = await started(2);
    await generator.use!(await published(7), undefined, scores(7));
    const episodes = Array.from({ length: 8 }, (_, i) => `e${i}`);
    const turn = (number: number) =>
      Promise.all(
        episodes.map((one) =>
          generator.generate(
            request(one, { key: { seed: 1, taskId: one, sample: 0, turn: number } }),
          ),
        ),
      );
    await turn(0);
    const doomed = doubles[0]!;
    open.splice(open.indexOf(doomed), 1);
    const port = Number(new URL(doomed.url).port);
    await doomed.close();
    const made = await turn(1);
    expect(made.map(({ tokens, version }) => [tokens.length, version])).toEqual(
      episodes.map(() => [6, 7]),
    );
    expect(warnings.join('\n')).toMatch(/is out of use: .*the other server/);
    const anew = await VllmDouble.start({ port });
    open.push(anew);
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
    open.splice(open.indexOf(doomed), 1);
    const port = Number(new URL(doomed.url).port);
    await doomed.close();
    for (const one of ['a', 'b', 'c']) await generator.generate(request(one));
    learned = 8;
    open.push(await VllmDouble.start({ port }));
    const told = (text: string) => () => warnings.filter((one) => one.includes(text)).length;
    const doubted = told('the learner may have taken a step');
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
    const thrown = await rejectionOf(generator.generate(request('one')));
    expect(thrown).toMatchObject({ code: 'GENERATION_FAILED' });
    for (const { url } of doubles) expect(String(thrown)).toContain(`${url}: `);
  });
});
