import { type Static, Type } from 'typebox';

/** Settings of what speaks to a Tinker service. */
export const tinkerSettings = {
  url: Type.String({ description: 'Address of the Tinker service.', minLength: 1 }),
  model: Type.Optional(
    Type.String({
      description:
        "Name of the run's model at the service; optional if the service has only one model.",
      minLength: 1,
    }),
  ),
  apiKeyEnv: Type.Optional(
    Type.String({ description: 'Environment variable that holds the key.', minLength: 1 }),
  ),
  deadlineS: Type.Number({
    description:
      'Seconds that one operation may take: a service may compile for minutes when it first sees a shape.',
    exclusiveMinimum: 0,
    maximum: 86_400,
    default: 3600,
  }),
  patienceS: Type.Number({
    description: 'Seconds that the service may be unreachable before the run fails.',
    minimum: 0,
    maximum: 86_400,
    default: 120,
  }),
};

export const TinkerSettings = Type.Object(tinkerSettings);
export type TinkerSettings = Static<typeof TinkerSettings>;
