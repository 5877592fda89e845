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

describe('what the page says of a token', () => {
  test('of one in the loss: probabilities, ratio, advantage and weight', () => {
    expect(Object.fromEntries(tokenFacts(whole(), tokens, 1))).toEqual({
      token: '"a"',
      id: '8 at 1',
      source: 'sampled, weights 4',
      'log p, sampling': '-0.6931 (50.0 %)',
      'log p, training': '-1.386 (25.0 %)',
      ratio: '1.5',
      advantage: '-1',
      'weight in the loss': '0.25',
    });
  });

  test('of one the policy did not write: why it is masked, and no numbers', () => {
    expect(Object.fromEntries(tokenFacts(whole(), tokens, 0))).toEqual({
      token: '"Q"',
      id: '7 at 0',
      source: 'user',
      masked: 'The policy did not write it (user).',
    });
  });

  test.each([
    ['it has no weight', {}, 'It has no weight in the loss; others of its episode have.'],
    [
      'its episode was as good as its group',
      { learned: { use: 'zero-advantage', meaning: 'As good as its group', advantage: 0 } },
      'zero-advantage: As good as its group',
    ],
    ['it was held out', { row: { when: 'before' } }, 'Held-out episodes are never trained on.'],
    ['its agent does not learn', { record: { learns: false } }, 'Its agent does not learn.'],
    [
      'the run kept no record',
      { learned: null },
      'Not recorded: this run kept no record of its updates.',
    ],
  ])('a sampled token is masked because %s', (_, more, why) => {
    const own = 'learned' in more && more.learned === null ? { ...tokens, learned: null } : tokens;
    expect(whyMasked(whole(more as Partial<EpisodeWhole>), own, 2)).toBe(why);
  });

  test.each([
    ['\u001b', String.raw`"\u001b"`],
    ['a\n', String.raw`"a\n"`],
    ['\u202e', String.raw`"\u202e"`],
    ['"', String.raw`"\""`],
  ])('the token %j is shown as %s', (text, expected) => {
    const facts = tokenFacts(whole(), { ...tokens, texts: [text, '', ''] }, 0);
    expect(facts[0]).toEqual(['token', expected]);
  });

  test('what was not recorded is said to be so, and never 0', () => {
    const facts = tokenFacts(whole(), { ...tokens, learned: null }, 1);
    expect(Object.fromEntries(facts)).toMatchObject({
      'log p, training': 'not recorded',
      ratio: 'not recorded',
      'weight in the loss': 'not recorded',
    });
  });
});

describe('colours of tokens', () => {
  test.each([
    ['source', ['source-user', 'source-sampled', 'source-sampled']],
    // -log 0.5 = 0.69, from 0.5 to 1; 3 from 2 to 4.
    ['log-probability', ['none', 'low3', 'low5']],
    // log 1.5 = 0.41, beyond the last bound of 0.2.
    ['ratio', ['none', 'up4', 'none']],
    ['advantage', ['none', 'down3', 'none']],
    // The largest of the episode.
    ['weight', ['none', 'up4', 'none']],
  ] as const)('by %s', (mode, classes) => {
    expect(tokenClasses(tokens, mode)).toEqual(classes);
  });

  test('each of them is in its scale', () => {
    for (const mode of tokenModes) {
      const scale = new Set(scaleOf(mode, ['user', 'sampled']).map((step) => step.class));
      const used = tokenClasses(tokens, mode).filter((name) => name !== 'none');
      expect(used.filter((name) => !scale.has(name))).toEqual([]);
    }
  });

  test('a source that nobody knows is no class of its own', () => {
    const strange = { ...tokens, spans: [{ start: 0, end: 3, source: 'x" onclick="' }] };
    expect(new Set(tokenClasses(strange, 'source'))).toEqual(new Set(['source-unknown']));
  });
});
