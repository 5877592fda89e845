import type { PythonValue } from '../python/python-value.ts';
import type { AssertTests } from '../services/sandbox.ts';
import type { Task } from './task.ts';

/** How an answer is compared with the expected one. */
export type Compare = 'exact' | 'whitespace' | 'float' | 'unordered';

/** A program is run with this on standard input and must print that. */
export interface StdinCase {
  readonly input: string;
  readonly output: string;
  /** Whether the policy may see it. */
  readonly public?: boolean;
}

/** A function is called with these arguments and must return that; both are type-tagged Python values. */
export interface CallsCase {
  readonly args: readonly PythonValue[];
  readonly expected: PythonValue;
  /** Whether the policy may see it. */
  readonly public?: boolean;
}

/** Python statements, assert statements most often: each is a test that passes when it raises nothing. */
export interface AssertsTests extends Omit<AssertTests, 'statements'> {
  readonly kind: 'asserts';
  /** Hidden from the policy. They share their names and run in order, after `setup`. */
  readonly code: readonly string[];
  /** The policy may see these. They run without the hidden ones, after `setup`. */
  readonly public?: readonly string[];
}

export type CodeTests =
  | { readonly kind: 'stdin'; readonly cases: readonly StdinCase[] }
  | { readonly kind: 'calls'; readonly entry: string; readonly cases: readonly CallsCase[] }
  | AssertsTests;

/** A programming task. Cases that are not public are hidden from the policy and decide the reward. */
export interface CodeTask extends Task {
  /** What the program begins with, such as a `def` line; empty when nothing is given. */
  readonly starterCode: string;
  readonly tests: CodeTests;
  readonly compare: Compare;
  /** A program that passes every test, if one is known. */
  readonly referenceSolution?: string;
}
