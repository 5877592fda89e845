import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import yargs, { type Argv } from 'yargs';

import type { Jobs } from '../jobs/job.ts';
import { AgentRlError, messageOf } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';
import { strayFailureOf } from '../core/stray-failure.ts';
import { redactor } from '../telemetry/index.ts';
import type { Command, CommandContext, CommandGroup } from './command.ts';
import { chat } from './commands/chat.ts';
import { doctor } from './commands/doctor.ts';
import { evaluate } from './commands/eval.ts';
import { generate } from './commands/generate.ts';
import { exportModel } from './commands/export.ts';
import { indexCorpus } from './commands/index-corpus.ts';
import { mergeLora } from './commands/merge-lora.ts';
import { plugins } from './commands/plugins.ts';
import { prepareDataCommand } from './commands/prepare-data/prepare-data.ts';
import { quantize } from './commands/quantize.ts';
import { sandbox } from './commands/sandbox.ts';
import { score } from './commands/score.ts';
import { sft, train } from './commands/train.ts';
import { verifyDataset } from './commands/verify-dataset.ts';
import { done, errorText, exitCodeOf, interrupted, runFailed, usersMistake } from './exit-code.ts';
import { type Io, writeJson } from './io.ts';
import { refuseRepeats } from './refuse-repeats.ts';

const commands: readonly (Command | CommandGroup)[] = [
  train,
  sft,
  evaluate,
  chat,
  plugins,
  verifyDataset,
  prepareDataCommand,
  indexCorpus,
  quantize,
  score,
  generate,
  mergeLora,
  exportModel,
  doctor,
  sandbox,
];

export interface MainOptions {
  jobs: Jobs;
  io: Io;
  /** Name of the program in its own help. */
  programName: string;
  /** The program is a preset of this command. */
  only?: Command;
}

/** The user wrote a command line that cannot be read. */
class UsageError extends Error {}

/** Reads a command line, runs its command and returns the exit code: 0, 1, 2 or 130. */
export async function main(args: readonly string[], options: MainOptions): Promise<number> {
  const { io } = options;
  try {
    const code = await parseAndRun(args, options);
    return codeOfStop(io.signal) ?? code;
  } catch (error) {
    const redact = redactor();
    if (error instanceof UsageError) {
      io.stderr.write(`${redact(error.message)}\n`);
      return usersMistake;
    }
    // A stray failure was told when it happened.
    if (error !== strayFailureOf(io.signal)) io.stderr.write(`${redact(errorText(error))}\n`);
    if (args.includes('--json')) {
      const code = AgentRlError.is(error) ? error.code : 'UNEXPECTED';
      writeJson(io, { error: { code, message: redact(messageOf(error)) } });
    }
    return codeOfStop(io.signal) ?? exitCodeOf(error);
  }
}

/** How a job leaves that was stopped, however it ended. */
function codeOfStop(signal: AbortSignal): number | undefined {
  if (!signal.aborted) return undefined;
  return strayFailureOf(signal) === undefined ? interrupted : runFailed;
}

async function parseAndRun(
  args: readonly string[],
  { jobs, io, programName, only }: MainOptions,
): Promise<number> {
  const context: CommandContext = { jobs, io };
  let code = done;
  let parser = yargs([...args])
    .scriptName(programName)
    .version(versionOfPackage())
    .parserConfiguration({ 'camel-case-expansion': false })
    .strict()
    .recommendCommands()
    .help()
    .wrap(100)
    .exitProcess(false)
    .showHelpOnFail(false);
  const run = (command: Command) => async (parsed: Record<string, unknown>) => {
    refuseRepeats(command.options, parsed, args);
    code = await command.run(parsed, context);
  };
  const withCommand = (y: Argv, command: Command): Argv =>
    y.command(command.name, command.describe, (own) => withOptions(own, command), run(command));
  if (only === undefined) {
    for (const command of commands) {
      parser =
        'commands' in command
          ? withGroup(parser, command, withCommand)
          : withCommand(parser, command);
    }
    parser = parser.demandCommand(1, 'Name a command.');
  } else {
    parser = parser.command('$0', only.describe, (y) => withOptions(y, only), run(only));
  }
  // yargs prints help and versions itself: they are results.
  const show = (_error: unknown, _parsed: unknown, output: string): void => {
    if (output !== '') io.stdout.write(`${output}\n`);
  };
  await parser
    .fail((message, error) => refuse(message, error, programName))
    .parseAsync([...args], {}, show);
  return code;
}

/** A command's own errors pass; what yargs could not read becomes a usage error. */
function refuse(message: string | null, error: Error | undefined, programName: string): never {
  if (error !== undefined && error.name !== 'YError') throw error;
  const problem = message ?? error?.message ?? 'The command line cannot be read.';
  throw new UsageError(`${problem}\nSee ${programName} --help.`);
}

function withGroup(
  parser: Argv,
  { name, describe, commands: members }: CommandGroup,
  withCommand: (y: Argv, command: Command) => Argv,
): Argv {
  const build = (y: Argv): Argv =>
    members
      .reduce(withCommand, y)
      .demandCommand(
        1,
        `Name a command of ${name}: ${members.map((member) => member.name).join(', ')}.`,
      );
  return parser.command(name, describe, build);
}

function withOptions(parser: Argv, { options, positionals = {} }: Command): Argv {
  let built = parser;
  for (const [name, option] of Object.entries(positionals)) built = built.positional(name, option);
  return built.options(options);
}

function versionOfPackage(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}
