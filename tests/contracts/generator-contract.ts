import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import {
  type Generation,
  type GenerationRequest,
  type Generator,
  type GeneratorInfo,
  greedy,
  unbiased,
} from '../../agent_rl/core/services/generator.ts';
import { testsWithin } from './contract-parts.ts';

export interface GeneratorContract {
  /** Opens it as a run would. */
  open: () => Promise<Generator>;
  /** Tokens that exist: ids from 0 to this, exclusive. */
  vocabSize: number;
  /**
   * Two model folders of its shape with different weights, for a generator that takes folders: it receives the weights of each, as
   * a learner publishes them. Without it other weights are not tested.
   */
  weights?: readonly [string, string];
  /** Whether it scores given tokens; by default where it has the method. */
  scores?: boolean;
  /** Of each test; 60 by default. */
  timeoutS?: number;
}

/** Tokens asked for where nothing else matters. */
const some = 12;

/** The weights of a model folder by themselves, in a folder of their own. */
async function asPublished(folder: string): Promise<string> {
  const published = await mkdtemp(join(tmpdir(), 'agent-rl-published-'));
  const names = (await readdir(folder)).filter((name) =>
    /^(?:adapter_)?config\.json$|\.safetensors(?:\.index\.json)?$/.test(name),
  );
  await Promise.all(names.map((name) => cp(join(folder, name), join(published, name))));
  return published;
}

/** What every generator promises. Call it from the test of each one. */
export function describeGeneratorContract(name: string, contract: GeneratorContract): void {
  const { open, vocabSize, weights, timeoutS = 60 } = contract;
  const request = (episode: string, over: Partial<GenerationRequest> = {}): GenerationRequest => ({
    episode,
    tokens: [1, 2, 3],
    maxTokens: some,
    stopTokens: [],
    sampling: unbiased,
    key: { seed: 1, taskId: 'contract', sample: 0, turn: 0 },
    ...over,
  });
  const inTime = testsWithin(timeoutS);
  describe(`${name} keeps the Generator contract`, () => {
    let generator: Generator;
    let info: GeneratorInfo;
    beforeAll(async () => {
      generator = await open();
      info = await generator.describe();
    }, 1000 * timeoutS);
    afterAll(() => generator.close());

    inTime('describes itself', async () => {
      expect(info.name).toMatch(/\S/);
      expect(info.maxContextTokens).toBeGreaterThan(some + 3);
      expect(['memory', 'folder', 'service']).toEqual(expect.arrayContaining([...info.takes]));
      expect(info.takes.length === 0 || generator.use !== undefined).toBe(true);
    });

    inTime('draws as many tokens as requested, each with its log-probability', async () => {
      const { tokens, logProbs, stop } = await generator.generate(request('many'));
      expect([tokens.length, logProbs.length, stop]).toEqual([some, some, 'max-tokens']);
      for (const [i, token] of tokens.entries()) {
        expect(Number.isInteger(token) && token >= 0 && token < vocabSize).toBe(true);
        expect(logProbs[i]).toBeLessThanOrEqual(1e-5);
        expect(Number.isFinite(logProbs[i])).toBe(true);
      }
      generator.release('many');
    });

    inTime('ends after the first stop token, which is part of the turn', async () => {
      const free = await generator.generate(request('free', { sampling: greedy }));
      const stopTokens = [free.tokens[0] ?? -1];
      const ended = await generator.generate(request('ended', { sampling: greedy, stopTokens }));
      expect([ended.tokens, ended.stop]).toEqual([stopTokens, 'stop-token']);
      for (const episode of ['free', 'ended']) generator.release(episode);
    });

    inTime('takes the likeliest tokens at temperature 0, whatever truncates', async () => {
      const plain = await generator.generate(request('plain', { sampling: greedy }));
      generator.release('plain');
      const key = { seed: 2, taskId: 'contract', sample: 1, turn: 0 };
      for (const over of [{ topP: 0.99 }, { topK: 5 }, { minP: 0.01 }]) {
        const episode = `greedy with ${Object.keys(over).join()}`;
        const sampling = { ...greedy, ...over };
        const drawn = await generator.generate(request(episode, { sampling, key }));
        expect(drawn.tokens).toEqual(plain.tokens);
        for (const [i, logProb] of drawn.logProbs.entries())
          expect(logProb).toBeCloseTo(plain.logProbs[i]!, 4);
        generator.release(episode);
      }
    });

    inTime('draws the same tokens for the same key, whatever is drawn meanwhile', async () => {
      if (!info.reproducible) return;
      const alone = await generator.generate(request('alone'));
      generator.release('alone');
      const others = [1, 2, 3].map((sample) =>
        generator.generate(
          request(`other ${sample}`, {
            tokens: Array.from({ length: 2 + sample }, (_, i) => (i + sample) % vocabSize),
            key: { seed: 1, taskId: 'other', sample, turn: 0 },
          }),
        ),
      );
      const again = await generator.generate(request('again'));
      await Promise.all(others);
      expect(again).toEqual(alone);
      for (const episode of ['again', 'other 1', 'other 2', 'other 3']) generator.release(episode);
    });

    inTime('continues an episode with its next turn, cached or recomputed', async () => {
      const first = await generator.generate(request('turns'));
      const tokens = [1, 2, 3, ...first.tokens, 4, 5];
      const key = { seed: 1, taskId: 'contract', sample: 0, turn: 1 };
      const second = await generator.generate(request('turns', { tokens, key, sampling: greedy }));
      const fresh = await generator.generate(request('fresh', { tokens, key, sampling: greedy }));
      expect(second.tokens).toEqual(fresh.tokens);
      for (const episode of ['turns', 'fresh']) generator.release(episode);
    });

    inTime('scores given tokens as it draws them, or says that it cannot', async () => {
      const { tokens, logProbs } = await generator.generate(request('scored'));
      generator.release('scored');
      const sequence = Int32Array.from([1, 2, 3, ...tokens]);
      const asked = generator.score?.([sequence, sequence], {
        temperature: 1,
        wanted: [sequence, Int32Array.from(sequence, (_, place) => Number(place === 4))],
      });
      if (contract.scores === false)
        return expect(asked).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      if (asked === undefined) return expect(contract.scores ?? false).toBe(false);
      const [all, one] = await asked;
      expect([all!.length, one!.length, all![0]]).toEqual([sequence.length, sequence.length, 0]);
      for (const [i, logProb] of logProbs.entries()) expect(all![3 + i]).toBeCloseTo(logProb, 4);
      expect(one).toEqual(all!.map((value, place) => (place === 4 ? value : 0)));
    });

    inTime('ends a turn where the context is full', async () => {
      const most = { maxTokens: info.maxContextTokens + 1 };
      const { tokens, stop } = await generator.generate(request('full', most));
      expect([tokens.length <= info.maxContextTokens - 3, stop]).toEqual([true, 'context-full']);
      generator.release('full');
    });

    inTime('draws from the weights it was last given, under their version', async () => {
      if (weights === undefined) return;
      expect(info.takes).toContain('folder');
      const [first, other] = await Promise.all(weights.map(asPublished));
      const drawn: Generation[] = [];
      for (const [i, location] of [first!, other!, first!].entries()) {
        await generator.use?.({ version: 5 + i, kind: 'folder', location });
        drawn.push(await generator.generate(request(`version ${i}`, { sampling: greedy })));
        generator.release(`version ${i}`);
      }
      expect(drawn.map(({ version }) => version)).toEqual([5, 6, 7]);
      const [before, changed, back] = drawn.map(({ tokens, logProbs }) => ({ tokens, logProbs }));
      expect(changed).not.toEqual(before);
      if (info.reproducible) expect(back!.tokens).toEqual(before!.tokens);
      await Promise.all([first!, other!].map((one) => rm(one, { recursive: true })));
    });

    inTime('aborts only the aborted request', async () => {
      const abort = new AbortController();
      const long = request('doomed', { maxTokens: info.maxContextTokens });
      const doomed = generator.generate(long, abort.signal);
      const sibling = generator.generate(request('sibling'));
      abort.abort();
      expect((await doomed).stop).toBe('aborted');
      expect((await sibling).tokens).toHaveLength(some);
      for (const episode of ['doomed', 'sibling', 'one that never was']) generator.release(episode);
    });
  });
}
