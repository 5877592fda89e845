import { describe, expect, test } from '@jest/globals';

import type { EpisodeTokens, EpisodeWhole } from '#agent_rl/runs/view/api.ts';
import { tokenFacts, whyMasked } from '#agent_rl/page/episode/token-facts.ts';
import { scaleOf, tokenClasses, tokenModes } from '#agent_rl/page/episode/token-modes.ts';

const tokens: EpisodeTokens = {
  ids: [7, 8, 9],
  texts: ['Q', 'a', '\u001b'],
  problem: null,
  spans: [
    { start: 0, end: 1, source: 'user' },
    { start: 1, end: 3, source: 'sampled', version: 4 },
  ],
  logProbs: [null, Math.log(0.5), -3],
  learned: {
    update: 0,
    weights: [null, 0.25, null],
    advantages: [null, -1, null],
    logProbs: [null, Math.log(0.25), null],
    ratios: [null, 1.5, null],
  },
};

const whole = (more: Partial<EpisodeWhole> = {}): EpisodeWhole =>
  ({
    row: { when: 'train', advantage: -1 },
    record: { learns: true },
    learned: { use: 'trained', meaning: 'moved the weights', advantage: -1 },
    ...more,
  }) as EpisodeWhole;

describe('tokenFacts', () => {
  test('gives a token in the loss its probabilities, ratio, advantage and weight', () => {
    expect(Object.fromEntries(tokenFacts(whole(), tokens, 1))).toEqual({
      token: '"a"',
      id: '8, position 1',
      source: 'sampled, weights 4',
      'log p when sampled': '-0.6931 (50.0 %)',
      'log p in training': '-1.386 (25.0 %)',
      ratio: '1.5',
      advantage: '-1',
      'weight in the loss': '0.25',
    });
  });

  test('explains a token that the policy did not write, without numbers', () => {
    expect(Object.fromEntries(tokenFacts(whole(), tokens, 0))).toEqual({
      token: '"Q"',
      id: '7, position 0',
      source: 'user',
      'not trained on': 'The policy did not write it (user).',
    });
  });

  test.each([
    ['it has no weight', {}, /no weight in the loss/],
    [
      'its episode was as good as its group',
      { learned: { use: 'zero-advantage', meaning: 'As good as its group', advantage: 0 } },
      /^zero-advantage: As good as its group$/,
    ],
    ['it was held out', { row: { when: 'before' } }, /never trains on held-out/],
    ['its agent does not learn', { record: { learns: false } }, /agent does not learn/],
    ['the run kept no record', { learned: null }, /^Not recorded/],
  ])('explains that a sampled token is not trained on because %s', (_, more, why) => {
    const own = 'learned' in more && more.learned === null ? { ...tokens, learned: null } : tokens;
    expect(whyMasked(whole(more as Partial<EpisodeWhole>), own, 2)).toMatch(why);
  });

  test('shows what a token would do to its line as an escape', () => {
    const shown = ['\u001b', 'a\n', '\u202e', '"'].map(
      (text) => tokenFacts(whole(), { ...tokens, texts: [text, '', ''] }, 0)[0]?.[1],
    );
    expect(shown.join(' ')).toBe(String.raw`"\u001b" "a\n" "\u202e" "\""`);
  });

  test('shows "not recorded", never 0, for a missing value', () => {
    const facts = tokenFacts(whole(), { ...tokens, learned: null }, 1);
    const missing = facts.filter(([, value]) => value === 'not recorded').map(([name]) => name);
    expect(missing).toEqual(
      expect.arrayContaining(['log p in training', 'ratio', 'weight in the loss']),
    );
  });
});

describe('tokenClasses', () => {
  test.each([
    ['source', ['source-user', 'source-sampled', 'source-sampled']],
    // -log 0.5 = 0.69, from 0.5 to 1; 3 from 2 to 4.
    ['log-probability', ['none', 'low3', 'low5']],
    // log 1.5 = 0.41, beyond the last bound of 0.2.
    ['ratio', ['none', 'up4', 'none']],
    ['advantage', ['none', 'down3', 'none']],
    // The largest of the episode.
    ['weight', ['none', 'up4', 'none']],
  ] as const)('gives each token a class by %s', (mode, classes) => {
    expect(tokenClasses(tokens, mode)).toEqual(classes);
  });

  test('uses only classes of the scale of its mode', () => {
    for (const mode of tokenModes) {
      const scale = new Set(scaleOf(mode, ['user', 'sampled']).map((step) => step.class));
      const used = tokenClasses(tokens, mode).filter((name) => name !== 'none');
      expect(used.filter((name) => !scale.has(name))).toEqual([]);
    }
  });

  test('gives all unknown sources one class', () => {
    const strange = { ...tokens, spans: [{ start: 0, end: 3, source: 'x" onclick="' }] };
    expect(new Set(tokenClasses(strange, 'source'))).toEqual(new Set(['source-unknown']));
  });
});
