import { type KindName, kindOf } from '../../compose/plugins/kinds.ts';
import type { ProgramPlugin } from '../../config/index.ts';
import { agentInCodeName } from './agent-in-code.ts';

/** The option of `trainAgent` that gives plugins of a kind. */
function optionOf(kind: string): string {
  const [option = 'plugins', ...below] = kindOf(kind as KindName)?.at.split('.') ?? [];
  return below.every((key) => key === '*') ? option : 'plugins';
}

/** By kind, the name of the plugin that an option of that name gives. */
const ownOptions: Readonly<Record<string, string>> = {
  rewards: 'reward',
  environments: agentInCodeName,
};

/** `tools, reward`: the options that give what is missing. */
function given(missing: readonly ProgramPlugin[]): string {
  const options = missing.map(({ kind, name }) =>
    ownOptions[kind] === name ? name : optionOf(kind),
  );
  return [...new Set(options)].join(', ');
}

const text = (value: string): string => `'${value}'`;

/** The call that trains with parts of a program. */
export const trainCall = (parts: readonly ProgramPlugin[], resume?: string): string =>
  `trainAgent({ tasks, ${given(parts)}, …${resume === undefined ? '' : `, resume: ${text(resume)}`} })`;

/** What a program calls, with the parts that it gave, for what a command cannot do without them. */
export const callInstead = {
  evaluate: (checkpoint: string) => (missing: readonly ProgramPlugin[]) =>
    `In a program, call evaluateAgent(${text(checkpoint)}, { ${given(missing)} }).`,
  load: (checkpoint: string) => (missing: readonly ProgramPlugin[]) =>
    `In a program, call loadAgent(${text(checkpoint)}, { ${given(missing)} }).`,
  train: (resume: string | undefined) => (missing: readonly ProgramPlugin[]) =>
    `In that program, call ${trainCall(missing, resume)}.`,
};
