import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { Transcript } from '#agent_rl/core/transcript.ts';
import { type Drawn, rolloutEvent, rolloutOf } from '#agent_rl/runs/journal/rollout-event.ts';
import { part, rollout } from '#tests/support/rollouts.ts';

/** A transcript of some turns, and the generations that drew them, in pieces. */
function played(random: KeyedRng) {
  const transcript = new Transcript();
  const drawn: Drawn[] = [];
  for (let turn = 0; turn < 1 + random.integer(4); turn++) {
    transcript.append('user', Array.from(random.integers(1 + random.integer(4), 50)));
    for (let piece = 0; piece < 1 + random.integer(3); piece++) {
      const tokens = random.integers(1 + random.integer(4), 3);
      const logProbs = Float32Array.from(tokens, () => -random.uniform());
      drawn.push({ seq: 10 + drawn.length, tokens, logProbs });
      transcript.appendSampled(Array.from(tokens), Array.from(logProbs), 4);
    }
  }
  return { record: transcript.record(), drawn };
}

const bySeq = (drawn: readonly Drawn[]) => (seq: number) => drawn.find((one) => one.seq === seq);

/** As it comes back from JSON. */
const plain = (value: object): unknown => JSON.parse(JSON.stringify(value));

describe('The event of a rollout', () => {
  test('gives the rollout back with what was drawn, whose tokens it does not repeat', () => {
    const random = new KeyedRng('rollouts');
    for (let round = 0; round < 200; round++) {
      const { record, drawn } = played(random);
      const whole = rollout([part({ sequences: [record] })], {
        when: 'train',
        iteration: 3,
        slot: 2,
      });
      const event = rolloutEvent(whole, drawn);
      const own = record.spans.filter(({ source }) => source !== 'sampled');
      const literal = own.reduce((sum, { start, end }) => sum + end - start, 0);
      expect(event.tokens).toHaveLength(literal);
      const read = rolloutOf(
        { ...event, data: plain(event.data!) as object, seq: 99 } as never,
        bySeq(drawn),
      );
      expect(plain(read)).toEqual(plain(whole));
    }
  });

  test('holds sampled tokens that no generation of the journal drew', () => {
    const { record } = played(new KeyedRng('alone'));
    const whole = rollout([part({ sequences: [record] })], { when: 'eval' });
    const event = rolloutEvent(whole, []);
    expect(event.tokens).toHaveLength(record.tokens.length);
    expect(plain(rolloutOf({ ...event, seq: 1 }, () => undefined))).toEqual(plain(whole));
  });

  test('is refused where a generation is missing', () => {
    const { record, drawn } = played(new KeyedRng('missing'));
    const event = rolloutEvent(rollout([part({ sequences: [record] })]), drawn);
    expect(() => rolloutOf({ ...event, seq: 1 }, () => undefined)).toThrow('event 10, is missing');
  });
});
