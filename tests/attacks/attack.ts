import type {
  RunRequest,
  SandboxFiles,
  SandboxLimits,
  SandboxStatus,
} from '../../agent_rl/core/services/sandbox.ts';
import type { Bait } from './host/bait.ts';
import { python } from './python.ts';

/** Python, or a function that writes it for the bait of a lane. */
export type Program = string | ((bait: Bait) => string);

/** A harmless program in the same sandbox. */
export interface Bystander {
  code: Program;
  stdin?: Program;
  /** What it prints if nothing harms it; it must end with `ok`. */
  prints: Program;
}

/**
 * One hostile program. It prints a line that begins with `LEAK` when it got what it must not have; the host checks on its
 * own as well. It must do no lasting harm even if it is not contained.
 */
export interface Attack {
  name: string;
  /** Not always a string: a caller's mistake is an attack too. */
  code: Program | null | number;
  stdin?: string;
  files?: SandboxFiles | ((bait: Bait) => SandboxFiles);
  limits?: SandboxLimits;
  /** Every status that shows it was contained. */
  ends: readonly SandboxStatus[];
  /** Must be in the output: shows how far the program got, or what a user has to see. */
  says?: string;
  /** Programs that run before it in the same sandbox, to their end. */
  before?: readonly (Omit<RunRequest, 'code' | 'stdin'> & {
    code: Program;
    stdin?: Program;
  })[];
  /** Run at the same time, in the same sandbox. */
  beside?: Bystander;
  /** Time until the effects of what it started show. */
  settleMs?: number;
  /** Whether it uses so much of the machine that no other attack should run at the same time. */
  alone?: boolean;
}

export const written = (program: Program, bait: Bait): string =>
  typeof program === 'string' ? program : program(bait);

type Placeholder = (bait: Bait) => string | number;
type Placeholders = Readonly<Record<Exclude<keyof Bait, 'secrets'>, Placeholder>>;

/** Stand for the bait of a lane in the code of an attack. */
export const bait = new Proxy({} as Placeholders, {
  get:
    (_, name: keyof Placeholders): Placeholder =>
    (given) =>
      given[name],
});

interface AttackOptions extends Omit<Attack, 'name' | 'code'> {
  /** Python before and after the code of the template. */
  prefix?: string;
  suffix?: string;
}

/** Of an attack that is contained if it reaches its end. */
export const tried = { ends: ['ok'], says: 'TRIED', suffix: '\nprint("TRIED")' } as const;

/**
 * An attack whose code is a template, see `python`; its values may be placeholders for the bait. It has `os` and `sys`.
 */
export const attack =
  (name: string, { prefix = '', suffix = '', ...options }: AttackOptions) =>
  (parts: TemplateStringsArray, ...values: readonly Placeholder[]): Attack => ({
    ...options,
    name,
    code: (given) => {
      const filled = values.map((value) => value(given));
      return `import os, sys\n${prefix}${python(parts, ...filled)}${suffix}`;
    },
  });
