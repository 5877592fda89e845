import yargs, { type Argv, type PositionalOptions } from 'yargs';

import { packageVersion } from '../core/package-root.ts';
import { alone, type Command, type CommandGroup, type MainOptions, wordOf } from './command.ts';
import { commands } from './commands.ts';
import { done } from './exit-code.ts';
import { explainCommand } from './unknown-command.ts';
import { explainUnknown, misspeltHelp, refuseRepeats, unknownFlags } from './unknown-flags.ts';

/** The user wrote a command line that cannot be read. */
export class UsageError extends Error {}

/** What a command line names: a command, a group without one of its commands, or neither. */
interface Called {
  /** `agent-rl sandbox serve`. */
  program: string;
  command?: Command | undefined;
  group?: CommandGroup | undefined;
}

function calledBy(args: readonly string[], { programName, only }: MainOptions): Called {
  if (only !== undefined) return { program: programName, command: only };
  const [first = '', second] = args;
  const named = commands.find((command) => wordOf(command) === first);
  if (named === undefined) return { program: programName };
  const program = `${programName} ${first}`;
  if (!('commands' in named)) return { program, command: named };
  const member = named.commands.find((command) => wordOf(command) === second);
  if (member !== undefined) return { program: `${program} ${second}`, command: member };
  return { program, group: named, command: named.commands.find((own) => wordOf(own) === alone) };
}

/** The command line as yargs reads it: with `--help` where no command is given. */
function readable(args: string[], { command, group }: Called): string[] {
  const least = group === undefined ? 1 : 2;
  return command === undefined && args.length < least ? [...args, '--help'] : args;
}

/** The words of a command line. OpenReinforcedAgent's `merge-lora` has no group. */
const wordsOf = (given: string[], { only }: MainOptions): string[] =>
  only === undefined && given[0] === 'merge-lora' ? ['model', ...given] : given;

/** @throws UsageError where a word stands for a command and names none */
function refuseUnknown(words: readonly string[], { program, command, group }: Called): void {
  const word = words[group === undefined ? 0 : 1];
  if (command !== undefined || word === undefined || word.startsWith('-')) return;
  throw new UsageError(`${explainCommand(word, group)}\nSee ${program} --help.`);
}

/** Runs the command that a command line names. @throws UsageError where it cannot be read; what the command throws */
export async function parseAndRun(given: string[], options: MainOptions): Promise<number> {
  const { jobs, io } = options;
  const words = wordsOf(given, options);
  const called = calledBy(words, options);
  refuseUnknown(words, called);
  const args = readable(words, called);
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
    const problem = await inWords(error.message, args, { ...called, command: running });
    throw new UsageError(`${problem}\nSee ${called.program} --help.`);
  }
  return code;
}

interface Hooks {
  run: (command: Command) => (parsed: Record<string, unknown>) => Promise<void>;
  /** The command whose options are being read. */
  enter: (command: Command) => void;
}

/** Columns of help that no terminal limits. */
const widestHelp = 100;

function parserOf(args: string[], { programName, only, io }: MainOptions, hooks: Hooks): Argv {
  const columns = Math.min(widestHelp, io.stdout.columns || widestHelp);
  const parser = yargs(args)
    .scriptName(programName)
    .version(packageVersion())
    .parserConfiguration({ 'camel-case-expansion': false })
    .detectLocale(false)
    .strict()
    .help()
    .wrap(columns)
    .exitProcess(false)
    .showHelpOnFail(false);
  const build = (command: Command, program: string) => (own: Argv) => {
    hooks.enter(command);
    return withOptions(own, command, program).epilogue(examplesText(command, program, columns));
  };
  if (only !== undefined) {
    return parser.command('$0', only.describe, build(only, programName), hooks.run(only));
  }
  const withCommand = (y: Argv, command: Command, parent = programName): Argv => {
    const word = wordOf(command);
    const program = word === alone ? parent : `${parent} ${word}`;
    return y.command(command.name, command.describe, build(command, program), hooks.run(command));
  };
  return commands
    .reduce(
      (built, command) =>
        'commands' in command
          ? withGroup(built, command, programName, (y, member) =>
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
  programName: string,
  withCommand: (y: Argv, command: Command) => Argv,
): Argv {
  const words = members.map(wordOf);
  const own = members.find((member) => wordOf(member) === alone);
  return parser.command(name, describe, (y: Argv) => {
    const built = members.reduce(withCommand, y);
    // yargs shows the usage of a default command besides that of its group, so the group has both.
    return own === undefined
      ? built.demandCommand(1, `${programName} ${name} needs a command: ${words.join(', ')}.`)
      : built.usage(`${usageOf(own, `${programName} ${name}`)}\n\n${own.describe}`);
  });
}

function withOptions(parser: Argv, command: Command, program: string): Argv {
  const { options, positionals, describe } = command;
  let built = parser;
  for (const [name, option] of Object.entries(positionals)) {
    built = built.positional(name, option as PositionalOptions);
  }
  built = built.options(options);
  return wordOf(command) === alone
    ? built
    : built.usage(`${usageOf(command, program)}\n\n${describe}`);
}

/** `Usage: agent-rl train --config FILE [options]`. */
function usageOf({ name, usage, options }: Command, program: string): string {
  const words = name.split(' ').slice(1);
  const required = Object.entries(options)
    .filter(([, { demandOption }]) => demandOption === true)
    .map(([flag]) => `--${flag} ${flag.replaceAll('-', '_').toUpperCase()}`);
  const own = usage === undefined ? [] : [usage];
  return ['Usage:', program, ...words, ...own, ...required, '[options]'].join(' ');
}

/** What each example does, and the line to copy; a line that is too long goes on after a backslash. */
function examplesText({ examples }: Command, program: string, columns: number): string {
  const shown = examples.map(([line, meaning]) => {
    const parts = `${program} ${line}`.trimEnd().split(/ (?=--)/);
    const lines: string[] = [];
    for (const part of parts) {
      const joined = `${lines.at(-1)} ${part}`;
      if (lines.length === 0) lines.push(`    ${part}`);
      else if (joined.length <= columns - 2) lines[lines.length - 1] = joined;
      else lines.push(`      ${part}`);
    }
    return `  ${meaning}\n${lines.join(' \\\n')}`;
  });
  return ['Examples:', ...shown].join('\n');
}

/** A command's own errors pass; what yargs could not read becomes a usage error. */
function refuse(message: string | null, error: Error | undefined): never {
  if (error !== undefined && error.name !== 'YError') throw error;
  throw new UsageError(message ?? error?.message ?? 'The command line cannot be read.');
}

/** What yargs says, or more where there is more to say. */
async function inWords(message: string, args: string[], called: Called): Promise<string> {
  const { program, command } = called;
  if (command === undefined) {
    const slips = misspeltHelp(args);
    return slips.length === 0 ? message : explainUnknown(slips, args, { options: {} });
  }
  const names = /^Unknown arguments?: (.*)$/.exec(message)?.[1]?.split(', ');
  if (names !== undefined) return explainUnknown(names, args, command);
  // A misspelt flag is also a missing one, and the spelling is the mistake.
  const misspelt = unknownFlags(args, command);
  if (misspelt.length > 0) return explainUnknown(misspelt, args, command);
  const got = /^Not enough non-option arguments: got (\d+)/.exec(message)?.[1];
  return got === undefined ? message : `${program} needs ${missingOf(command, Number(got))}.`;
}

/** The positional arguments that must follow those that were given: `B, the folder of a run`. */
function missingOf({ name, positionals }: Command, given: number): string {
  const required = [...name.matchAll(/<([^.>]+)/g)].map(([, word = '']) => word);
  const missing = required.slice(given).map((word) => {
    const what = positionals[word]?.describe ?? '';
    return `${word.toUpperCase()}, the ${what.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}`;
  });
  return missing.join(', and ');
}
