import type { Options } from 'yargs';

import { type Command, linesOf, wordOf } from '../../agent_rl/cli/command.ts';
import { commands } from '../../agent_rl/cli/commands.ts';
import { configOptions } from '../../agent_rl/cli/flags/config-flags.ts';
import { code, page, plain, table } from './markdown.ts';

const typeOf = ({ type, array, choices }: Options): string => {
  if (choices !== undefined) return choices.map((choice) => code(String(choice))).join(', ');
  if (array === true) return 'text, may be repeated';
  if (type === 'boolean') return 'switch';
  return type === 'number' ? type : 'text';
};

/** `processors` where a default differs between machines. */
function defaultOf({ default: value, defaultDescription, demandOption }: Options): string {
  if (demandOption === true) return 'required';
  if (defaultDescription !== undefined) return defaultDescription;
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0))
    return '';
  return code(String(value));
}

const flagRow = ([name, option]: [string, Options]): string[] => [
  [name, ...[option.alias ?? []].flat()].map((one) => code(`--${one}`)).join(', '),
  typeOf(option),
  defaultOf(option),
  plain(option.describe ?? ''),
];

const flagTable = (options: Readonly<Record<string, Options>>): string =>
  table(['Flag', 'Value', 'Default', 'Meaning'], Object.entries(options).map(flagRow));

const isOfRunFile = ([name, option]: [string, Options]): boolean => configOptions[name] === option;

function commandText([name, command]: [string, Command]): string {
  const { describe, examples, options, positionals } = command;
  const program = `agent-rl ${name}`;
  const given = command.name.slice(wordOf(command).length);
  const lines = examples.flatMap(([line, meaning]) => [
    `# ${meaning}`,
    `${program} ${line}`.trimEnd(),
  ]);
  const shared = Object.entries(options)
    .filter(isOfRunFile)
    .map(([flag]) => code(`--${flag}`))
    .join(', ');
  const words = Object.entries(positionals).map(
    ([word, { describe: what = '' }]) => `- ${code(word)}: ${plain(what)}`,
  );
  // Of all commands alike.
  const own = Object.entries(options).filter((flag) => !isOfRunFile(flag) && flag[0] !== 'json');
  return [
    `## ${name}`,
    `${plain(describe)}.`,
    `\`\`\`text\n${program}${given} [options]\n\`\`\``,
    ...(words.length === 0 ? [] : [words.join('\n')]),
    `\`\`\`sh\n${lines.join('\n')}\n\`\`\``,
    ...(own.length === 0 ? [] : [flagTable(Object.fromEntries(own))]),
    ...(shared === '' ? [] : [`Also [flags of a run file](#flags-of-a-run-file): ${shared}.`]),
  ].join('\n\n');
}

/** `docs/reference/cli.md` */
export const cliPage = (): string =>
  page(
    'Command line',
    'Every command and flag of `agent-rl`. `agent-rl COMMAND --help` shows the same, and `agent-rl runs --help` the commands of a group. A flag that stands for a setting overrides `--set`, and both override the run file.',
    'Two more programs run `agent-rl train` and take its flags. Without `--config`, `train-code-exec-agent` uses `configs/workspace_grpo.yaml` and `train-search-agent` uses `configs/search_qa_grpo.yaml`; `agent-rl train` requires `--config`.',
    'Exit codes: 0 on success, 2 after a user error, 130 when interrupted, and 1 otherwise, including runs whose held-out success fell or that did not reach `train.until`; see [errors](errors.md). Every command takes `--json`: stdout then contains only the result, as JSON, and everything else goes to stderr.',
    `## Flags of a run file\n\n${flagTable(configOptions)}`,
    ...linesOf(commands).map(commandText),
  );
