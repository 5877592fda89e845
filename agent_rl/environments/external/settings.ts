import { type Static, Type } from '../../core/typebox.ts';
import { integer, text, within } from '../../config/blocks/block.ts';
import { judgingSettings } from '../question/settings.ts';

/** The environment's block in YAML. */
export const ExternalSettings = Type.Object(
  {
    agent: Type.Optional(
      text(
        'File that exports the agent function, as default or as `agent`. Set either agent or command',
        { path: 'file', minLength: 1 },
      ),
    ),
    command: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        description:
          'Program and arguments of the agent. It reads the task as a line of JSON and prints its answer. Set either command or agent',
      }),
    ),
    isolation: Type.Optional(
      Type.Enum(['worker', 'process'], {
        description:
          'Where an agent file runs. worker: in one thread for all rollouts (default). process: in one process per rollout. A command always runs in a process',
      }),
    ),
    env: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), {
      default: [],
      description: 'Environment variables that the agent inherits, besides PATH, HOME and the like',
    }),
    mostOutputKiB: integer(
      'Maximum output of an agent process; an agent that prints more fails',
      within(1, 2 ** 20, 1024, 'KiB'),
    ),
    ...judgingSettings,
  },
  { additionalProperties: false },
);

export type ExternalSettings = Static<typeof ExternalSettings>;

/** Checks what a schema cannot. @throws Error */
export function checkExternal({ agent, command, isolation }: Partial<ExternalSettings>): void {
  if (agent === undefined && command === undefined)
    throw new Error('has no agent. Add agent: FILE, or command: [PROGRAM, ARGUMENT, …].');
  if (agent !== undefined && command !== undefined)
    throw new Error('has both agent and command. Keep one.');
  if (command !== undefined && isolation === 'worker')
    throw new Error(
      'A command always runs as its own process, so isolation cannot be worker. Remove the setting isolation.',
    );
}
