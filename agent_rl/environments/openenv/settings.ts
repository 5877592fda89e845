import {
  mostReward,
  number,
  optionalText,
  text,
  variable,
  within,
} from '../../config/blocks/block.ts';
import { type Static, Type } from '../../core/typebox.ts';

/** The environment's block in YAML. */
export const OpenEnvSettings = Type.Object(
  {
    url: text('Address of the server, http://… or https://…', { pattern: '^https?://' }),
    apiKeyEnv: variable('Environment variable with a key that is sent to url as a bearer token'),
    systemPrompt: optionalText('Optional system prompt'),
    show: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        description: 'Fields of an observation that the policy sees; by default all but metadata',
      }),
    ),
    solvedAt: number(
      'An episode counts as solved if the rewards of its steps add up to at least this, unless the server says',
      within(-mostReward, mostReward, 1),
    ),
    stepS: number('Seconds in which the server must answer', within(0.1, 3600, 60)),
    capacityS: number(
      'Seconds that an episode waits for a server with no free session',
      within(0, 86_400, 600),
    ),
  },
  { additionalProperties: false },
);

export type OpenEnvSettings = Static<typeof OpenEnvSettings>;
