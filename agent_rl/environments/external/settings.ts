import { type Static, Type } from 'typebox';

import { integer, text, within } from '../../config/blocks/block.ts';
import { judgingSettings } from '../question/settings.ts';

/** The environment's block in YAML. */
export const ExternalSettings = Type.Object(
  {
    agent: Type.Optional(
      text(
        'File that exports the agent, a function: as its default export or as `agent`; this or command',
        { path: 'file', minLength: 1 },
      ),
    ),
    command: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        description:
          'Program that is the agent, and its arguments: it reads the task as one line of JSON and prints its answer; this or agent',
      }),
    ),
    isolation: Type.Optional(
      Type.Enum(['worker', 'process'], {
        description:
          'Where the agent runs. worker: in one thread for all rollouts, which the default of a file is. process: in a process for each rollout, as a command always does',
      }),
    ),
    env: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), {
      default: [],
      description:
        'Names of environment variables that the agent is given besides PATH, HOME and the like: it inherits no others, so that no secret reaches it unasked',
    }),
    mostOutputKiB: integer(
      'Most that a process may print as its answer; one that prints more is ended and has failed',
      within(1, 2 ** 20, 1024, 'KiB'),
    ),
    ...judgingSettings,
  },
  { additionalProperties: false },
);

export type ExternalSettings = Static<typeof ExternalSettings>;

/** What of the settings a schema cannot check. @throws Error */
export function checkExternal({ agent, command, isolation }: Partial<ExternalSettings>): void {
  if (agent === undefined && command === undefined)
    throw new Error('names no agent. Add agent: FILE, or command: [PROGRAM, ARGUMENT, …].');
  if (agent !== undefined && command !== undefined)
    throw new Error('names two agents, agent and command. Keep one.');
  if (command !== undefined && isolation === 'worker')
    throw new Error(
      'isolation: worker is for a file, and a command is always a process. Leave isolation out.',
    );
}
