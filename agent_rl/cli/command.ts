import type { Options, PositionalOptions } from 'yargs';

import type { Jobs } from '../jobs/job.ts';
import type { Parsed } from './config-flags.ts';
import type { Io } from './io.ts';

/** What a command is given to run with. */
export interface CommandContext {
  jobs: Jobs;
  io: Io;
}

/** One command: what it accepts, and what it does with it. */
export interface Command {
  /** In the syntax of yargs, `eval [checkpoint]`. */
  name: string;
  describe: string;
  options: Readonly<Record<string, Options>>;
  positionals?: Readonly<Record<string, PositionalOptions>>;
  /** Returns the exit code. */
  run(parsed: Parsed, context: CommandContext): Promise<number>;
}

/** Commands under one name: `sandbox serve`, `sandbox doctor`. */
export interface CommandGroup {
  name: string;
  describe: string;
  commands: readonly Command[];
}
