import type { Options, PositionalOptions } from 'yargs';

import type { Jobs } from '../jobs/jobs.ts';
import type { Parsed } from './flags/flag.ts';
import type { Io } from './io.ts';

/** What a command is given to run with. */
export interface CommandContext {
  jobs: Jobs;
  io: Io;
}

/** What follows the command's name, and what the whole line does. */
export type Example = readonly [line: string, meaning: string];

/** One command: what it accepts, and what it does with it. */
export interface Command {
  /** In the syntax of yargs, `eval [checkpoint]`. */
  name: string;
  describe: string;
  examples: Example[];
  options: Readonly<Record<string, Options>>;
  positionals?: Readonly<Record<string, PositionalOptions>>;
  /** Earlier names of its flags, accepted until 0.3, with the names they have now. */
  renamed?: Readonly<Record<string, string>>;
  /** Today's form of the words of a command line, where they are of an earlier one, accepted until 0.3. */
  wordsOfToday?(words: string[], flags: string[]): string[] | undefined;
  /** Returns the exit code. */
  run(parsed: Parsed, context: CommandContext): Promise<number>;
}

/** Commands under one name: `sandbox serve`, `sandbox doctor`. */
export interface CommandGroup {
  name: string;
  describe: string;
  commands: Command[];
}

/** What a program is made of. */
export interface MainOptions extends CommandContext {
  /** Name of the program in its own help. */
  programName: string;
  /** The program is a preset of this command. */
  only?: Command;
}

/** The word a command is called by: `eval` of `eval [checkpoint]`. */
export const wordOf = ({ name }: { name: string }): string => name.split(' ', 1)[0] ?? name;
