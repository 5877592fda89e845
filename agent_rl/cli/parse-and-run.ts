import yargs, { type Argv, type PositionalOptions } from 'yargs';

import { packageVersion } from '../core/package-root.ts';
import { type Command, type CommandGroup, type MainOptions, wordOf } from './command.ts';
import { commands } from './commands.ts';
import { done } from './exit-code.ts';
import { refuseRepeats } from './unknown-flags.ts';

/** The user wrote a command line that cannot be read. */
export class UsageError extends Error {}

interface Called {
  /** `agent-rl sandbox serve`. */
  program: string;
  /** None for a preset. */
  words: string[];
  command: Command;
}

/** What a command line names: a command, a group without one of its commands, or neither. */
function calledBy(
  args: string[],
  { programName, only }: MainOptions,
): Called | CommandGroup | undefined {
  if (only !== undefined) return { program: programName, words: [], command: only };
  const [first, second] = args;
  const named = commands.find((command) => wordOf(command) === first);
  if (named === undefined) return undefined;
  if (!('commands' in named)) {
    return { program: `${programName} ${first}`, words: [first ?? ''], command: named };
  }
  const member = named.commands.find((command) => wordOf(command) === second);
  if (member === undefined) return named;
  const words = [first ?? '', second ?? ''];
  return { program: [programName, ...words].join(' '), words, command: member };
}

/** The command line as yargs reads it: with `--help` where no command is given. */
function readable(args: string[], called: Called | CommandGroup | undefined): string[] {
  const isBare = called === undefined ? args.length === 0 : 'commands' in called && args.length < 2;
  return isBare ? [...args, '--help'] : args;
}

/** Runs the command that a command line names. @throws UsageError where it cannot be read; what the command throws */
export async function parseAndRun(given: string[], options: MainOptions): Promise<number> {
  const { jobs, io, programName } = options;
  const called = calledBy(given, options);
  const args = readable(given, called);
  const program = called !== undefined && 'program' in called ? called.program : programName;
  let code = done;
  let running: Command | undefined;
  const run = (command: Command) => async (parsed: Record<string, unknown>) => {
    refuseRepeats(command.options, parsed, args);
    code = await command.run(parsed, { jobs, io });
  };
  // yargs prints help and versions itself: they are results.
  const show = (_error: unknown, _parsed: unknown, output: string): void => {
    if (output !== '') io.stdout.write(`${output}\n`);
  };
  const parser = parserOf(args, options, { run, enter: (command) => (running = command) });
  try {
    await parser.fail(refuse).parseAsync(args, {}, show);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const problem = await inWords(error.message, args, running);
    throw new UsageError(`${problem}\nSee ${program} --help.`);
  }
  return code;
}

interface Hooks {
  run: (command: Command) => (parsed: Record<string, unknown>) => Promise<void>;
  /** The command whose options are being read. */
  enter: (command: Command) => void;
}

function parserOf(args: string[], { programName, only }: MainOptions, hooks: Hooks): Argv {
  const parser = yargs(args)
    .scriptName(programName)
    .version(packageVersion())
    .parserConfiguration({ 'camel-case-expansion': false })
    .detectLocale(false)
    .strict()
    .recommendCommands()
    .help()
    .wrap(100)
    .exitProcess(false)
    .showHelpOnFail(false);
  const build = (command: Command, program: string) => (own: Argv) => {
    hooks.enter(command);
    return withOptions(own, command, program);
  };
  if (only !== undefined) {
    return parser.command('$0', only.describe, build(only, programName), hooks.run(only));
  }
  const withCommand = (y: Argv, command: Command, parent = programName): Argv => {
    const program = `${parent} ${wordOf(command)}`;
    return y.command(command.name, command.describe, build(command, program), hooks.run(command));
  };
  return commands
    .reduce(
      (built, command) =>
        'commands' in command
          ? withGroup(built, command, (y, member) =>
              withCommand(y, member, `${programName} ${command.name}`),
            )
          : withCommand(built, command),
      parser,
    )
    .demandCommand(1, 'Name a command.');
}

function withGroup(
  parser: Argv,
  { name, describe, commands: members }: CommandGroup,
  withCommand: (y: Argv, command: Command) => Argv,
): Argv {
  const names = members.map((member) => member.name).join(', ');
  const build = (y: Argv): Argv =>
    members
      .reduce((built, member) => withCommand(built, member), y)
      .demandCommand(1, `Name a command of ${name}: ${names}.`);
  return parser.command(name, describe, build);
}

function withOptions(
  parser: Argv,
  { options, positionals, examples }: Command,
  program: string,
): Argv {
  let built = parser;
  for (const [name, option] of Object.entries(positionals)) {
    built = built.positional(name, option as PositionalOptions);
  }
  return built
    .options(options)
    .example(examples.map(([line, meaning]) => [`${program} ${line}`.trimEnd(), meaning]));
}

/** A command's own errors pass; what yargs could not read becomes a usage error. */
function refuse(message: string | null, error: Error | undefined): never {
  if (error !== undefined && error.name !== 'YError') throw error;
  throw new UsageError(message ?? error?.message ?? 'The command line cannot be read.');
}

/** What yargs says, or more where there is more to say. */
async function inWords(message: string, args: string[], running?: Command): Promise<string> {
  if (running === undefined) {
    // Yargs gives the remedy alone.
    const unknown = args.filter((arg) => !arg.startsWith('-')).slice(0, 2);
    if (!message.startsWith('Did you mean')) return message;
    return `Unknown command: ${unknown.join(' ')}. ${message}`;
  }
  const { explainUnknown, unknownFlags } = await import('./unknown-flags.ts');
  const names = /^Unknown arguments?: (.*)$/.exec(message)?.[1]?.split(', ');
  if (names !== undefined) return explainUnknown(names, args, running);
  // A misspelt flag is also a missing one, and the spelling is what to mend.
  const misspelt = unknownFlags(args, running);
  return misspelt.length === 0 ? message : explainUnknown(misspelt, args, running);
}
