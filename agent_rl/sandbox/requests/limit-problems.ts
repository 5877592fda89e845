import { AgentRlError } from '../../core/errors.ts';
import { limitBounds, type SandboxLimits } from '../../core/services/sandbox.ts';
import { seen } from '../../core/python/seen-value.ts';
import { fieldsProblem, type Problem } from './request-problems.ts';

/** Limits of a program whose request names none. */
export const defaultLimits = { wallS: 10, memoryMiB: 512 } as const;

function rangeProblem(
  name: string,
  value: unknown,
  { minimum, maximum }: { minimum: number; maximum: number },
  unit: string,
): Problem {
  if (typeof value === 'number' && value >= minimum && value <= maximum) return undefined;
  return `${name} is ${seen(value)}; it must be a number from ${minimum} to ${maximum} ${unit}`;
}

export const secondsProblem = (name: string, value: unknown): Problem =>
  rangeProblem(name, value, limitBounds.wallS, 's');

const memoryProblem = (name: string, value: unknown): Problem =>
  rangeProblem(name, value, limitBounds.memoryMiB, 'MiB');

const problemOf: Readonly<Record<keyof SandboxLimits, (name: string, value: unknown) => Problem>> =
  { wallS: secondsProblem, memoryMiB: memoryProblem };
const known = Object.keys(problemOf) as readonly (keyof SandboxLimits)[];

/** What is wrong with the limits of a request; those left out are the backend's. */
export function limitsProblem(limits: unknown): Problem {
  if (limits === undefined) return undefined;
  const problem = fieldsProblem('limits', limits, known);
  if (problem !== undefined) return problem;
  const given = limits as Readonly<Record<string, unknown>>;
  return known
    .filter((name) => name in given)
    .map((name) => problemOf[name](`limits.${name}`, given[name]))
    .find((found) => found !== undefined);
}

export function seedProblem(seed: unknown): Problem {
  if (seed === undefined || Number.isSafeInteger(seed)) return undefined;
  return `seed is ${seen(seed)}; it must be a whole number between -2^53 and 2^53`;
}

/** @throws AgentRlError `CONFIG_INVALID` for limits that cannot be kept. */
export const checkLimits = (limits: SandboxLimits): void => refuse(limitsProblem(limits));

/** @throws AgentRlError `CONFIG_INVALID` where there is a problem. */
export function refuse(problem: Problem): void {
  if (problem !== undefined) throw new AgentRlError('CONFIG_INVALID', `${problem}.`);
}
