import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import type { ModelJudgeSettings } from './settings.ts';

type Scale = Pick<ModelJudgeSettings, 'lowest' | 'highest' | 'reply'>;

/** The schema that a server holds the answer to. */
export const answerSchema = ({ lowest, highest }: Scale): object => ({
  type: 'object',
  properties: {
    reason: { type: 'string' },
    score: { type: 'number', minimum: lowest, maximum: highest },
  },
  required: ['reason', 'score'],
  additionalProperties: false,
});

/**
 * The score in a judge's answer, from 0 for the lowest to 1 for the highest. The answer must be the object or the number
 * that was asked for and nothing else: a number found somewhere in a text may be the policy's.
 *
 * @throws Error that says what is wrong with the answer
 */
export function scoreOf(answer: string, { lowest, highest, reply }: Scale): number {
  const score = reply === 'number' ? bareNumber(answer) : scoreInObject(answer);
  if (score < lowest || score > highest)
    throw wrong(answer, `its score is ${score}; allowed: ${lowest} to ${highest}`);
  return (score - lowest) / (highest - lowest);
}

function bareNumber(answer: string): number {
  const text = answer.trim();
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text);
  throw wrong(answer, 'expected only a number');
}

function scoreInObject(answer: string): number {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    throw wrong(answer, 'it is not JSON');
  }
  const keys = isRecord(value) ? Object.keys(value) : [];
  const others = keys.filter((key) => key !== 'reason' && key !== 'score');
  if (!isRecord(value) || others.length > 0)
    throw wrong(answer, 'expected an object with only reason and score');
  const { score } = value;
  if (typeof score === 'number' && Number.isFinite(score)) return score;
  throw wrong(answer, `expected a finite number as its score, got ${showValue(score, 40)}`);
}

const wrong = (answer: string, why: string): Error =>
  new Error(`The judge answered ${showValue(answer, 120)}: ${why}.`);
