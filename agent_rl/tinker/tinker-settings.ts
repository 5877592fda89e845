import { type Static, Type } from '../core/typebox.ts';

/** Settings of what speaks to a Tinker service. */
export const tinkerSettings = {
  url: Type.String({ description: 'Address of the Tinker service.', minLength: 1 }),
  model: Type.Optional(
    Type.String({
      description:
        "Name of the run's model on the service; optional if the service has only one model.",
      minLength: 1,
    }),
  ),
  apiKeyEnv: Type.Optional(
    Type.String({ description: 'Environment variable that holds the key.', minLength: 1 }),
  ),
  deadlineS: Type.Number({
    description:
      'Seconds that one operation may take. A service may need minutes to compile for a new batch shape.',
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
