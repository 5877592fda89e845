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
export function checkVerdict(verdict: Verdict, agent: string | undefined, turns: TurnCounts): void {
  const own = agent ? `verdict of ${agent}` : 'verdict';
  if (!isRecord(verdict)) throw wrong(own, verdict, 'an object');
  const { outcome, success, reward, components, metrics = {}, solvedAt = 0, answer = '' } = verdict;
  const { turnRewards, turnStates } = verdict;
  if (!outcomes.includes(outcome))
    throw wrong(`${own}.outcome`, outcome, `one of ${outcomes.join(', ')}`);
  if (typeof success !== 'boolean') throw wrong(`${own}.success`, success, 'true or false');
  checkNumber(`${own}.solvedAt`, solvedAt);
  if (typeof answer !== 'string') throw wrong(`${own}.answer`, answer, 'text, or nothing');
  // A system failure has no reward, whatever the verdict says.
  if (!isSystemFailure(outcome)) checkReward(`${own}.reward`, reward);
  checkNumbers(`${own}.components`, components);
  checkNumbers(`${own}.metrics`, metrics);
  if (turnRewards !== undefined) checkTurns(`${own}.turnRewards`, turnRewards, turns);
  if (turnStates !== undefined) checkStates(`${own}.turnStates`, turnStates, turns);
}

/** Counts of an agent's turns in an episode. */
export interface TurnCounts {
  /** Those that the environment received. */
  stepped: number;
  /** Those that were sampled: a turn that was cut off is one more. Absent for an external agent. */
  sampled: number | undefined;
}

/** @throws WrongValue unless it is a finite number for each turn that the environment received */
export function checkTurns(
  name: string,
  values: unknown,
  turns: TurnCounts,
): asserts values is readonly number[] {
  if (!Array.isArray(values)) throw wrong(name, values, 'a list of numbers');
  checkTurnCount(name, values, turns);
  for (const [turn, value] of values.entries()) checkNumber(`${name}[${turn}]`, value);
}

function checkStates(name: string, states: unknown, turns: TurnCounts): void {
  if (!Array.isArray(states) || !states.every((one) => typeof one === 'string'))
    throw wrong(name, states, 'a list of names');
  // The state after the last turn may be named too.
  checkTurnCount(name, states.length === turns.stepped + 1 ? states.slice(1) : states, turns);
}

function checkTurnCount(name: string, values: readonly unknown[], turns: TurnCounts): void {
  const { stepped, sampled } = turns;
  const { length } = values;
  const given = `${name} has ${length} entries`;
  if (sampled === undefined)
    throw new WrongValue(`${given}; expected none: the turns of an external agent may branch.`);
  if (length !== stepped)
    throw new WrongValue(`${given}; expected ${stepped}, one for each turn that was played.`);
  if (sampled !== stepped && sampled !== stepped + 1)
    throw new WrongValue(
      `${given} for ${stepped} turns, but the transcript has ${sampled} stretches of sampled tokens; expected one for each turn.`,
    );
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
