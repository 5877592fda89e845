import { type Static, Type } from 'typebox';

import { flag, integer, most, mostReward, number, optionalText, text, within } from './block.ts';

/*
 * Blocks whose plugin is chosen by `type`. What else they hold are the plugin's own settings, which are checked against
 * its schema when the run is composed, see `validate-block.ts`.
 */

const type = (kind: string) => text(`Name of ${kind}`, { minLength: 1 });

/** What the agent acts in: a block of `environment:`. */
export const EnvironmentBlock = Type.Object({
  type: type('an environment'),
  name: Type.Optional(
    text('What data sets and tasks call it; by default its type', {
      pattern: '^[a-zA-Z][a-zA-Z0-9_-]*$',
    }),
  ),
});

/** `environment:` one block, or a list of several of which each task has one. */
export const EnvironmentsBlock = Type.Unsafe<
  Static<typeof EnvironmentBlock> | Static<typeof EnvironmentBlock>[]
>({
  description:
    'What the agent acts in, and its settings; or a list of several: each of datasets names its own, or metadata.environment of a task',
  if: { type: 'array' },
  else: EnvironmentBlock,
  items: EnvironmentBlock,
  minItems: 1,
});

/** `agents:` which of an environment's several agents learn. */
export const AgentsBlock = Type.Array(
  Type.Object(
    {
      name: text('As the environment calls it', { minLength: 1 }),
      train: flag('Whether what it samples is learned from', true),
      model: optionalText(
        "Folder of a model or a checkpoint that plays this agent and never changes; only with train: false, and with the tokenizer of the run's model. By default the weights that are trained play it",
      ),
    },
    { additionalProperties: false },
  ),
  {
    default: [],
    description:
      'Agents of environments that have several, where something is said of one: all are played by the weights that are trained, and all learn, unless it is said here',
  },
);

/** `tools:` what the agent may call. */
export const ToolsBlock = Type.Array(Type.Object({ type: type('a tool') }), {
  default: [],
  description: 'What the agent may call, each with its settings',
});

/** `rewards:` added, each times its weight, to the environment's own reward. */
export const RewardsBlock = Type.Array(
  Type.Object({
    type: type('a reward'),
    weight: number(
      'Weight of the reward in the sum; 0 only logs it',
      within(-mostReward, mostReward, 1),
    ),
    tool: optionalText('Name of a tool: the reward then sees only calls of this tool'),
    name: Type.Optional(
      text('Name in records and metrics; by default type, or tool/type', {
        pattern: '^[a-zA-Z][a-zA-Z0-9_-]*(/[a-zA-Z0-9_-]+)*$',
      }),
    ),
  }),
  { default: [], description: "Added, each times its weight, to the environment's own reward" },
);

/** A block that holds nothing but a plugin: its name, and its settings beside it. */
export const partBlock = (kind: string, usual: string, description: string) =>
  Type.Object(
    { type: text(`Name of ${kind}`, { minLength: 1, default: usual }) },
    { default: {}, description },
  );

/** `trackers:` where a run's figures go besides its own files. */
export const TrackersBlock = Type.Array(
  Type.Object({
    type: type('a tracker'),
    queue: integer(
      'Most events that wait for it; one more is lost',
      within(1, most.count, 1000, 'events'),
    ),
    deadlineS: number(
      'Longest time it may take over an event, which has then failed',
      within(0.001, 3600, 10, 's'),
    ),
    closeS: number(
      'Longest time that the end of a run waits for it; what still waits is lost',
      within(0.001, 3600, 30, 's'),
    ),
  }),
  {
    default: [{ type: 'tensorboard' }],
    description:
      "Where a run's figures go besides its own files, each with its settings; none can hold up a run for long, or end it. [] is none",
  },
);

/** `plugins:` packages and local files that provide plugins. */
export const PluginsBlock = Type.Array(Type.String({ minLength: 1 }), {
  default: [],
  description:
    'Packages, or files relative to the run file, that provide plugins; the config.yaml of a run also names those that a program gave, as program:KIND/NAME',
});
