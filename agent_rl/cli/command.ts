import type { Options } from 'yargs';

import type { JobContext } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { type Flags, type Parsed, switchFlag, type Values, valuesOf } from './flags/flag.ts';
import { type Io, printer, writeJson } from './io.ts';

/** What a command is given to run with. */
export interface CommandContext {
  jobs: Jobs;
  io: Io;
}

/** What follows the command's name, and what the whole line does. */
export type Example = readonly [line: string, meaning: string];

type OptionTable = Readonly<Record<string, Options>>;

interface Described {
  /** In the syntax of yargs, `eval [checkpoint]`. */
  name: string;
  describe: string;
  /** What the usage line names besides positionals and required flags: `--config FILE`. */
  usage?: string;
  examples: Example[];
}

/** One command: what it accepts, and what it does with it. */
export interface Command extends Described {
  options: OptionTable;
  positionals: OptionTable;
  /** Returns the exit code. */
  run(parsed: Parsed, context: CommandContext): Promise<number>;
}

/** What a command runs with besides the values of its flags. */
export interface Running extends CommandContext {
  /** What every job is given. */
  job: JobContext;
  /** The command line as yargs read it. */
  parsed: Parsed;
}

interface Declared<Positionals, Own> extends Described {
  positionals?: Positionals;
  flags?: Own;
  /** The flags of a run file, which `prepare` reads. */
  settings?: OptionTable;
  /** Its text is plans and tables, which are fitted to a terminal; never set where a model's text is shown. */
  fits?: boolean;
  /** Returns what `--json` prints; `ok: false` in it makes the exit code 1. */
  run: (values: Values<Positionals & Own>, running: Running) => Promise<object>;
}

const noFlags = {};
const jsonFlag = switchFlag('Print the result as JSON on stdout');

const optionsOf = (flags: Flags): OptionTable =>
  Object.fromEntries(Object.entries(flags).map(([name, { option }]) => [name, option]));

/** A command whose flags are declared once, with how each is read. Every command has `--json`. */
export function command<
  Positionals extends Flags = typeof noFlags,
  Own extends Flags = typeof noFlags,
>({
  positionals,
  flags,
  settings = {},
  fits = false,
  run,
  ...described
}: Declared<Positionals, Own>): Command {
  const all = { ...positionals, ...flags } as Positionals & Own;
  return {
    ...described,
    positionals: optionsOf(positionals ?? {}),
    options: { ...optionsOf(flags ?? {}), ...settings, json: jsonFlag.option },
    run: async (parsed, { jobs, io }) => {
      const json = parsed['json'] === true;
      const job = { signal: io.signal, print: printer(io, json, { fits }) };
      const result = await run(valuesOf(all, parsed), { jobs, io, job, parsed });
      if (json) writeJson(io, result);
      return 'ok' in result && result.ok === false ? 1 : 0;
    },
  };
}

/** Commands under one name: `runs show`, `runs explain`. One whose word is `$0` is run by the group's name alone. */
export interface CommandGroup {
  name: string;
  describe: string;
  commands: readonly Command[];
}

/** What a program is made of. */
export interface MainOptions extends CommandContext {
  /** Name of the program in its own help. */
  programName: string;
  /** The program is a preset of this command. */
  only?: Command | undefined;
}

/** The word of a command that its group's name alone runs. */
export const alone = '$0';

/** The word a command is called by: `eval` of `eval [checkpoint]`. */
export const wordOf = ({ name }: { name: string }): string => name.split(' ', 1)[0] ?? name;

/** Each command with what a command line calls it: `runs show`, and `plugins` for what that name alone runs. */
export const linesOf = (all: readonly (Command | CommandGroup)[]): [string, Command][] =>
  all.flatMap((one): [string, Command][] => {
    if (!('commands' in one)) return [[wordOf(one), one]];
    return one.commands.map((member) => {
      const word = wordOf(member);
      return [word === alone ? one.name : `${one.name} ${word}`, member];
    });
  });
