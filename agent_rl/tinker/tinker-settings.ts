import { type Static, Type } from 'typebox';

/** Settings of what speaks to a Tinker service. */
export const tinkerSettings = {
  url: Type.String({ description: 'Address of the Tinker service.', minLength: 1 }),
  model: Type.Optional(
    Type.String({
      description:
        'The model, as the service names it; by default the only one that it has. It must be the model of the run.',
      minLength: 1,
    }),
  ),
  apiKeyEnv: Type.Optional(
    Type.String({ description: 'Environment variable that holds the key.', minLength: 1 }),
  ),
  deadlineS: Type.Number({
    description:
      'Longest that one operation may take, in seconds: a service may compile for minutes when it first sees a shape.',
    exclusiveMinimum: 0,
    maximum: 86_400,
    default: 3600,
  }),
  patienceS: Type.Number({
    description: 'Longest that the service may be out of reach, in seconds.',
    minimum: 0,
    maximum: 86_400,
    default: 120,
  }),
};

export const TinkerSettings = Type.Object(tinkerSettings);
export type TinkerSettings = Static<typeof TinkerSettings>;
