import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Adapter } from '#model/config/architecture.ts';
import * as adapters from '#model/adapters/adapter.ts';
import * as fc from '#tests/support/properties.ts';
import { tinyAdapter } from '#tests/support/tiny-adapter.ts';
import { tinyModels } from '#tests/support/tiny-models.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

const { adapterParameter, adapterSpecs, adapterTargets, allSpecs, countParameters } = adapters;

/** Width 12, 4 query heads and 1 key head of 4, 20 inner values, 2 layers, vocabulary 11. */
const config = tinyModels['Qwen2 with biases, four query heads per key head and its own LM head']!;
const valuesOnly = adapterTargets(['v_proj']);
const second: Adapter = { ...tinyAdapter, name: 'second', rank: 2, targets: valuesOnly };

describe('adapterTargets', () => {
  const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj'].map((name) => `self_attn.${name}`);
  const mlp = ['mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj'];
  test.each([
    [['attention'], attention],
    [['mlp'], mlp],
    [
      ['mlp', 'attention'],
      [...attention, ...mlp],
    ],
    [['all-linear'], [...attention, ...mlp]],
    [['self_attn.v_proj'], ['self_attn.v_proj']],
    [
      ['down_proj', 'q_proj', 'q_proj', 'self_attn.q_proj'],
      ['self_attn.q_proj', 'mlp.down_proj'],
    ],
  ])('turns %j into %j', (names, expected) => {
    expect(adapterTargets(names)).toEqual(expected);
  });

  test.each([
    [['attention', 'lm_head'], 'No linear layer of this model is named "lm_head"'],
    [['embed_tokens'], '"embed_tokens"'],
    [['proj'], '"proj"'],
    [['constructor'], '"constructor"'],
    [[], 'An adapter needs at least one target'],
  ])('refuses %j', (names, message) => {
    const error = thrownBy(() => adapterTargets(names));
    expect(error).toMatchObject(errorOf('CONFIG_INVALID', message));
    expect(error.message).toContain('attention, mlp, all-linear, q_proj');
  });
});

test('an adapter is scaled by alpha / rank, or by alpha / sqrt(rank) if it is rank-stabilised', () => {
  const adapter = { ...tinyAdapter, alpha: 8, rank: 16 };
  expect(adapters.adapterScale(adapter)).toBe(0.5);
  expect(adapters.adapterScale({ ...adapter, rankStabilised: true })).toBe(2);
});

describe('The tensors of an adapter', () => {
  test('consist of A [rank, in] and B [out, rank] of each layer it has', () => {
    const targets = adapterTargets(['k_proj', 'down_proj']);
    const listed = adapterSpecs(config, { ...tinyAdapter, targets });
    expect(listed.map(({ name, shape }) => `${name} ${shape.join()}`)).toEqual(
      [0, 1].flatMap((layer) => [
        `model.layers.${layer}.self_attn.k_proj.lora_A.tiny.weight 3,12`,
        `model.layers.${layer}.self_attn.k_proj.lora_B.tiny.weight 4,3`,
        `model.layers.${layer}.mlp.down_proj.lora_A.tiny.weight 3,20`,
        `model.layers.${layer}.mlp.down_proj.lora_B.tiny.weight 12,3`,
      ]),
    );
  });

  test('train alone, and only the last of several adapters', () => {
    const one = { ...config, adapters: [tinyAdapter] };
    const two = { ...config, adapters: [tinyAdapter, second] };
    expect(adapters.trainedSpecs(config)).toEqual(allSpecs(config));
    expect(adapters.trainedSpecs(one)).toEqual(adapterSpecs(config, tinyAdapter));
    expect(adapters.trainedSpecs(two)).toEqual(adapterSpecs(config, second));
    expect(adapters.withoutTrainedAdapter(two)).toEqual(one);
    expect(allSpecs(adapters.withoutTrainedAdapter(one))).toEqual(allSpecs(config));
  });

  test('count with the model and alone', () => {
    // Embedding and head 132 each, final norm 12; a layer: projections 192 + 48 + 48 + 192, biases 16 + 4 + 4,
    // feed-forward 3 x 240, norms 24.
    const model = 2 * 132 + 12 + 2 * (480 + 24 + 720 + 24);
    // v_proj: A [2, 12] and B [4, 2].
    const adapter = 2 * (24 + 8);
    const adapted = { ...config, adapters: [second] };
    const both = { parameters: model + adapter, trainedParameters: adapter };
    expect(countParameters(config)).toEqual({ parameters: model, trainedParameters: model });
    expect(countParameters(adapted)).toEqual(both);
    const quantized = { ...config, quantization: { bits: 4, blockSize: 4 } as const };
    expect(countParameters(quantized)).toEqual({ parameters: model, trainedParameters: 0 });
    expect(thrownBy(() => adapters.requireTrainable(quantized)).code).toBe('CONFIG_INVALID');
    expect(countParameters({ ...quantized, adapters: [second] }).trainedParameters).toBe(adapter);
  });
});

describe('A new adapter', () => {
  const first = (seed: number, adapter = tinyAdapter, of = config) =>
    adapters.initialAdapter(of, adapter, new KeyedRng(seed, 'test'));

  test('has B zero, so that it adds nothing', () => {
    const matrices = [...first(1)].filter(([name]) => name.includes('.lora_B.'));
    expect(matrices).toHaveLength(14);
    for (const [, values] of matrices) expect(values.every((value) => value === 0)).toBe(true);
  });

  test('has A uniform within 1 / sqrt(in)', () => {
    const name = adapterParameter(tinyAdapter, 0, 'mlp.down_proj', 'A');
    const many = Array.from({ length: 200 }, (_, seed) => [...first(seed).get(name)!]).flat();
    const bound = 1 / Math.sqrt(20);
    // 12,000 values: the ends are reached, the mean is 0 and the variance bound² / 3, to four standard errors.
    const [most, least] = [Math.max(...many), Math.min(...many)];
    expect(most).toBeLessThanOrEqual(Math.fround(bound));
    expect(Math.min(most, -least)).toBeGreaterThan(0.99 * bound);
    const mean = many.reduce((sum, value) => sum + value, 0) / many.length;
    const square = many.reduce((sum, value) => sum + value * value, 0) / many.length;
    expect(Math.abs(mean)).toBeLessThan((4 * bound) / Math.sqrt(3 * 12_000));
    const error = 4 * Math.sqrt((1 / 5 - 1 / 9) / 12_000);
    expect(Math.abs(square / bound ** 2 - 1 / 3)).toBeLessThan(error);
  });

  test('gives every tensor its own keyed values, whatever else the adapter has', () => {
    const part = { ...tinyAdapter, targets: adapterTargets(['up_proj']) };
    const gate = adapterParameter(tinyAdapter, 0, 'mlp.gate_proj', 'A');
    const up = (layer: number) => adapterParameter(tinyAdapter, layer, 'mlp.up_proj', 'A');
    const alone = fc.property(fc.nat(), (seed) => {
      const whole = first(seed);
      for (const [name, values] of first(seed, part)) expect(values).toEqual(whole.get(name));
      const others = [whole.get(up(0)), whole.get(up(1)), first(seed + 1).get(gate)];
      for (const other of others) expect(other).not.toEqual(whole.get(gate));
    });
    fc.assert(alone, { numRuns: 20 });
  });
});
