import { describe, expect, test } from '@jest/globals';

import {
  forwardBackwardRequest,
  readForwardBackwardOutput,
  readSampledSequences,
} from '#agent_rl/tinker/messages.ts';

/** What the Python package tinker 0.25.0 sent to SkyRL 0.4.0 for one sequence, and what that answered. */
const request =
  'Cg5tb2RlbF8zMGU4MTJhYhABGnQKFAoSChABAAAALAEAAC0BAAAuAQAAEiIKB3dlaWdodHMSFwoQAAAAAAAAgD8AAIA/AACAPxgBIgEEEjgKDXRhcmdldF90b2tlbnMSJwogLAEAAAAAAAAtAQAAAAAAAC4BAAAAAAAALwEAAAAAAAAYAiIBBCINY3Jvc3NfZW50cm9weQ==';
const answer =
  'CgZzY2FsYXISchIyCghsb2dwcm9icxImChAo4CvBA5snwdGVDcEOOLbAEhAAAAAAAAAAABAAAAAAAAAAGAESOgoQZWxlbWVudHdpc2VfbG9zcxImChAAAACAA5snQdGVDUEOOLZAEhAAAAAAAAAAABAAAAAAAAAAGAEYAQ==';

describe('A message of the Tinker protocol', () => {
  test('has the bytes that the Python package sends', () => {
    const inputs = {
      weights: Float32Array.of(0, 1, 1, 1),
      target_tokens: Int32Array.of(300, 301, 302, 303),
    };
    const bytes = forwardBackwardRequest({
      modelId: 'model_30e812ab',
      seqId: 1,
      data: [{ tokens: Int32Array.of(1, 300, 301, 302), inputs }],
      loss: 'cross_entropy',
      lossConfig: {},
      forwardOnly: false,
    });
    expect(bytes.toString('base64')).toBe(request);
  });

  test('can be read from an answer of a real server', () => {
    const { perDatum, metrics } = readForwardBackwardOutput(Buffer.from(answer, 'base64'));
    expect(metrics).toEqual(new Map());
    expect([...perDatum.keys()]).toEqual(['logprobs', 'elementwise_loss']);
    const [logProbs] = perDatum.get('logprobs')!;
    const [losses] = perDatum.get('elementwise_loss')!;
    const rounded = [...logProbs!].map((value) => value.toFixed(3));
    expect(rounded).toEqual(['-10.742', '-10.475', '-8.849', '-5.694']);
    expect([...losses!]).toEqual([-0, ...logProbs!.slice(1).map((value) => -value)]);
  });

  test('ends with the settings of a loss and forward-only: a double by name, and a flag', () => {
    const bytes = forwardBackwardRequest({
      modelId: 'm',
      seqId: 2,
      data: [],
      loss: 'ppo',
      lossConfig: { clip_low_threshold: 0.5 },
      forwardOnly: true,
    });
    // Field 1 "m", field 2 is 2, field 4 "ppo", field 5 { 1: the name, 2: 0.5 as a double }, field 6 is 1.
    const name = Buffer.from('clip_low_threshold').toString('hex');
    expect(bytes.toString('hex')).toBe(`0a016d1002220370706f2a1d0a12${name}11000000000000e03f3001`);
  });

  test('holds sampled sequences with tokens, log-probabilities and the reason they ended', () => {
    // SampledSequence { stop_reason = 1: 1, tokens = 2: [5, 6], logprobs = 3: [-0.5, NaN] }, and one that stopped.
    const one = '0801120805000000060000001a08000000bf0000c07f';
    const other = '120407000000';
    const message = Buffer.from(`0a16${one}0a06${other}`, 'hex');
    expect(readSampledSequences(message)).toEqual([
      {
        stopReason: 'length',
        tokens: Int32Array.of(5, 6),
        logProbs: Float32Array.of(-0.5, Number.NaN),
      },
      { stopReason: 'stop', tokens: Int32Array.of(7), logProbs: undefined },
    ]);
  });

  test.each([
    ['cut off', Buffer.from(answer, 'base64').subarray(0, 60)],
    ['of a wire type that does not exist', Buffer.from([0x0f])],
    ['a number that does not end', Buffer.alloc(20, 0xff)],
  ])('is refused with bytes that are %s', (_, bytes) => {
    expect(() => readForwardBackwardOutput(bytes)).toThrow('not a protobuf message');
  });

  test('is refused with offsets outside its tensor', () => {
    const bytes = Buffer.from(answer, 'base64');
    // Field 2 of 16 bytes: 0 and 16, each in 8 bytes.
    const at = bytes.indexOf(Buffer.from([0x12, 16, 0, 0, 0, 0, 0, 0, 0, 0, 16]));
    bytes[at + 10] = 17;
    expect(() => readForwardBackwardOutput(bytes)).toThrow('offsets');
  });
});
