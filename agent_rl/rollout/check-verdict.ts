import { WrongValue } from '../core/failure.ts';
import type { Verdict } from '../core/plugins/environment.ts';
import { isRecord } from '../core/is-record.ts';
import { isSystemFailure, outcomes } from '../core/outcome.ts';
import { showValue } from '../core/show-value.ts';

/** Largest absolute reward: the squares of larger rewards would dominate a group's deviation. */
const mostReward = 1e6;

/**
 * Checks that an environment returned a valid verdict, so that only valid ones are trained on.
 *
 * @param agent the judged agent, if an episode has several
 * @throws WrongValue that says what is wrong and what is allowed
 */
export function checkVerdict(verdict: Verdict, agent: string | undefined): void {
  const own = agent ? `verdict of ${agent}` : 'verdict';
  if (!isRecord(verdict)) throw wrong(own, verdict, 'an object');
  const { outcome, success, reward, components, metrics = {}, solvedAt = 0, answer = '' } = verdict;
  if (!outcomes.includes(outcome))
    throw wrong(`${own}.outcome`, outcome, `one of ${outcomes.join(', ')}`);
  if (typeof success !== 'boolean') throw wrong(`${own}.success`, success, 'true or false');
  checkNumber(`${own}.solvedAt`, solvedAt);
  if (typeof answer !== 'string') throw wrong(`${own}.answer`, answer, 'text, or nothing');
  // A system failure has no reward, whatever the verdict says.
  if (!isSystemFailure(outcome)) checkReward(`${own}.reward`, reward);
  checkNumbers(`${own}.components`, components);
  checkNumbers(`${own}.metrics`, metrics);
}

/** @throws WrongValue unless it is a number that can be trained on */
export function checkReward(name: string, value: unknown): asserts value is number {
  if (typeof value === 'number' && Math.abs(value) <= mostReward) return;
  throw wrong(name, value, `a number between -${mostReward} and ${mostReward}`);
}

/** @throws WrongValue unless it is finite numbers by name */
export function checkNumbers(name: string, values: unknown): void {
  if (!isRecord(values)) throw wrong(name, values, 'numbers by name');
  for (const [key, value] of Object.entries(values)) checkNumber(`${name}.${key}`, value);
}

/** @throws WrongValue unless it is a finite number */
export function checkNumber(name: string, value: unknown): void {
  if (!Number.isFinite(value)) throw wrong(name, value, 'a finite number');
}

const wrong = (name: string, value: unknown, allowed: string): WrongValue =>
  new WrongValue(`${name} is ${showValue(value, 60)}; expected ${allowed}.`);
