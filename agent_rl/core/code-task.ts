import type { PythonValue } from './python-value.ts';
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

export type CodeTests =
  | { readonly kind: 'stdin'; readonly cases: readonly StdinCase[] }
  | { readonly kind: 'calls'; readonly entry: string; readonly cases: readonly CallsCase[] }
  /** Python assert statements, which only a judge that runs them can decide. */
  | { readonly kind: 'asserts'; readonly setup?: string; readonly code: readonly string[] };

/** A programming task. Cases that are not public are hidden from the policy and decide the reward. */
export interface CodeTask extends Task {
  /** What the program begins with, such as a `def` line; empty when nothing is given. */
  readonly starterCode: string;
  readonly tests: CodeTests;
  readonly compare: Compare;
  /** A program that passes every test, if one is known. */
  readonly referenceSolution?: string;
}
