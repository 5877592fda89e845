import type { Options, PositionalOptions } from 'yargs';

import type { Jobs } from '../jobs/job.ts';
import type { Parsed } from './config-flags.ts';
import type { Io } from './io.ts';

/** What a command is given to run with. */
export interface CommandContext {
  readonly jobs: Jobs;
  readonly io: Io;
}

/** One command: what it accepts, and what it does with it. */
export interface Command {
  /** In the syntax of yargs, `eval [checkpoint]`. */
  readonly name: string;
  readonly describe: string;
  readonly options: Readonly<Record<string, Options>>;
  readonly positionals?: Readonly<Record<string, PositionalOptions>>;
  /** Returns the exit code. */
  run(parsed: Parsed, context: CommandContext): Promise<number>;
}

/** Commands under one name: `sandbox serve`, `sandbox doctor`. */
export interface CommandGroup {
  readonly name: string;
  readonly describe: string;
  readonly commands: readonly Command[];
}
