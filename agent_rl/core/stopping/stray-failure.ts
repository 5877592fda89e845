import { AsyncLocalStorage } from 'node:async_hooks';
import { isNativeError } from 'node:util/types';

import { messageOf } from '../errors.ts';

/** How a failure escaped. */
export type StrayKind = 'rejection' | 'exception';

const found: Readonly<Record<StrayKind, string>> = {
  rejection: 'A promise was rejected and nothing awaited it',
  exception: 'An error was thrown where nothing could catch it',
};

/**
 * A failure that no part of a job could catch, most often of a plugin: a promise that is not awaited, a throw in a timer.
 * The job runs on to its next safe place and then fails with it.
 */
export class StrayFailure extends Error {
  override readonly name = 'StrayFailure';

  constructor(kind: StrayKind, thrown: unknown) {
    const message = `${found[kind]}: ${messageOf(thrown)}${placeOf(thrown)}`;
    super(message.replaceAll(/\s*\n\s*/g, ' '), { cause: thrown });
  }
}

/** First place in the stack that is not Node's own. */
function placeOf(thrown: unknown): string {
  const lines = isNativeError(thrown) ? (thrown.stack ?? '').split('\n') : [];
  const place = lines.find((line) => /^\s+at /.test(line) && !line.includes('node:'));
  return place === undefined ? '' : ` (${place.trim()})`;
}

/** Takes the stray failures of the code that runs. */
const owners = new AsyncLocalStorage<(failure: StrayFailure) => void>();

/** Runs code whose stray failures, whenever they come, are not the job's: `take` is given them, and must not throw. */
export const owningStrays = <Value>(
  take: (failure: StrayFailure) => void,
  work: () => Value,
): Value => owners.run(take, work);

/** Who takes the failures of the code that runs; undefined where they are the job's. */
export const ownerOfStrays = (): ((failure: StrayFailure) => void) | undefined => owners.getStore();

/** The stray failure a job was stopped for, if that is why it was stopped. */
export const strayFailureOf = ({ reason }: AbortSignal): StrayFailure | undefined =>
  reason instanceof StrayFailure ? reason : undefined;

/** @throws StrayFailure when the job was stopped for one: what it has done so far does not count as a result. */
export function throwIfFailed(signal: AbortSignal): void {
  const failure = strayFailureOf(signal);
  if (failure !== undefined) throw failure;
}
