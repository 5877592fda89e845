import { describe, expect, test } from '@jest/globals';

import { answerSchema, scoreOf } from '#agent_rl/rewards/model-judge/judge-answer.ts';

const json = { lowest: 0, highest: 10, reply: 'json' } as const;
const bare = { lowest: -1, highest: 1, reply: 'number' } as const;

describe("The score of a judge's answer", () => {
  test.each([
    ['{"reason": "right", "score": 10}', json, 1],
    ['{"score": 0}', json, 0],
    [' {"score": 2.5, "reason": ""}\n', json, 0.25],
    ['0.5', bare, 0.75],
    [' -1 \n', bare, 0],
    ['+.5e0', bare, 0.75],
  ])('is read from %s', (answer, scale, score) => {
    expect(scoreOf(answer, scale)).toBe(score);
  });

  test.each([
    [json, 'it is not JSON', ['', 'Score: 10', '```json\n{"score": 10}\n```']],
    [json, 'it is not JSON', ['{"score": 1} {"score": 10}']],
    [
      json,
      'expected an object with only reason and score',
      ['[10]', '{"score": 10, "final": true}'],
    ],
    [json, 'expected a finite number as its score, got nothing', ['{"reason": "right"}']],
    [json, 'expected a finite number as its score, got "10"', ['{"score": "10"}']],
    [json, 'expected a finite number as its score', ['{"score": 1e999}']],
    [json, 'allowed: 0 to 10', ['{"score": 11}', '{"score": -0.1}']],
    [bare, 'expected only a number', ['10/10', '1 because', '0x1', 'Infinity', '']],
    [bare, 'its score is 2; allowed: -1 to 1', ['2']],
  ])('is not searched with %j, since %s: %j', (scale, problem, answers) => {
    for (const answer of answers) expect(() => scoreOf(answer, scale)).toThrow(problem);
  });

  test('follows the schema for the server', () => {
    expect(answerSchema(json)).toMatchObject({
      properties: { score: { type: 'number', minimum: 0, maximum: 10 } },
      additionalProperties: false,
    });
  });
});
