import { type Static, Type } from '../../core/typebox.ts';
import { flag, integer, most, mostReward, number, optionalText, text, within } from './block.ts';

/*
 * Blocks whose plugin is chosen by `type`. The rest of a block is the plugin's own settings, which are checked against
 * its schema when the run is composed, see `validate-block.ts`.
 */

const type = (kind: string) => text(`Name of ${kind}`, { minLength: 1 });

/** An environment: a block of `environment:`. */
export const EnvironmentBlock = Type.Object({
  type: type('an environment'),
  name: Type.Optional(
    text('Name by which datasets and tasks refer to it; by default its type', {
      pattern: '^[a-zA-Z][a-zA-Z0-9_-]*$',
    }),
  ),
});

/** `environment:` one block, or a list from which each task names one. */
export const EnvironmentsBlock = Type.Unsafe<
  Static<typeof EnvironmentBlock> | Static<typeof EnvironmentBlock>[]
>({
  description:
    "The environment, or a list of environments; with a list, each dataset (or a task's metadata.environment) names one",
  if: { type: 'array' },
  else: EnvironmentBlock,
  items: EnvironmentBlock,
  minItems: 1,
});

/** `agents:` which agents of a multi-agent environment learn. */
export const AgentsBlock = Type.Array(
  Type.Object(
    {
      name: text("The agent's name in the environment", { minLength: 1 }),
      train: flag("Train on this agent's tokens", true),
      policy: optionalText(
        'Name of the policy that plays this agent, from policies. By default the policy of the top level plays it',
      ),
    },
    { additionalProperties: false },
  ),
  {
    default: [],
    description:
      'Options of agents in multi-agent environments; by default the policy of the top level plays all agents, and all learn',
  },
);

/** `tools:` tools that the agent may call. */
export const ToolsBlock = Type.Array(Type.Object({ type: type('a tool') }), {
  default: [],
  description: 'Tools that the agent may call',
});

/** `rewards:` rewards that are added, times their weight, to the environment's reward. */
export const RewardsBlock = Type.Array(
  Type.Object({
    type: type('a reward'),
    weight: number(
      'Weight in the total reward; 0 only logs it',
      within(-mostReward, mostReward, 1),
    ),
    tool: optionalText('Name of a tool; the reward then sees only calls of this tool'),
    name: Type.Optional(
      text('Name in records and metrics; by default type, or tool/type', {
        pattern: '^[a-zA-Z][a-zA-Z0-9_-]*(/[a-zA-Z0-9_-]+)*$',
      }),
    ),
  }),
  {
    default: [],
    description:
      "Rewards that are multiplied by their weight and added to the environment's reward",
  },
);

/** A block that only holds a plugin: its name and its settings. */
export const partBlock = (kind: string, usual: string, description: string) =>
  Type.Object(
    { type: text(`Name of ${kind}`, { minLength: 1, default: usual }) },
    { default: {}, description },
  );

/** `trackers:` where metrics are sent besides the run's own files. */
export const TrackersBlock = Type.Array(
  Type.Object({
    type: type('a tracker'),
    queue: integer(
      'Queue length; further events are dropped',
      within(1, most.count, 1000, 'events'),
    ),
    deadlineS: number('Time limit per event', within(0.001, 3600, 10, 's')),
    closeS: number(
      'Time limit for sending the remaining events at the end of the run',
      within(0.001, 3600, 30, 's'),
    ),
  }),
  {
    default: [{ type: 'tensorboard' }],
    description: "Where metrics are sent besides the run's own files; [] turns trackers off",
  },
);

/** `plugins:` packages and local files with plugins. */
export const PluginsBlock = Type.Array(Type.String({ minLength: 1 }), {
  default: [],
  description: 'Packages, or files relative to the run file, that provide plugins',
});
