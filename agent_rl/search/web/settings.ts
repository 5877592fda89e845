import { type Static, Type } from 'typebox';

/** Settings of every tool that uses the web. */
export const webProperties = {
  timeoutS: Type.Number({
    exclusiveMinimum: 0,
    maximum: 600,
    default: 20,
    description: 'Seconds one attempt may take, to its last byte',
  }),
  deadlineS: Type.Number({
    exclusiveMinimum: 0,
    maximum: 3600,
    default: 60,
    description: 'Seconds for everything: the wait for the rate limit, all attempts, their pauses',
  }),
  maxRetries: Type.Integer({
    minimum: 0,
    maximum: 10,
    default: 2,
    description: 'More tries after 429, 5xx and network errors; Retry-After is honoured',
  }),
  backoffFactor: Type.Number({
    minimum: 0,
    maximum: 60,
    default: 0.8,
    description: 'Seconds before the first further try; doubled before each next one',
  }),
  rateLimitPerMin: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Most starts in any minute, of all workers together; without limit by default',
    }),
  ),
  maxKiB: Type.Integer({
    minimum: 1,
    maximum: 65_536,
    default: 2048,
    description: 'Longest answer taken',
  }),
  connections: Type.Integer({
    minimum: 1,
    maximum: 256,
    default: 16,
    description: 'Most connections to one server',
  }),
  caFile: Type.Optional(
    Type.String({
      path: 'file',
      minLength: 1,
      description: 'PEM file of authorities trusted besides the usual ones',
    }),
  ),
  cassette: Type.Optional(
    Type.Object(
      {
        mode: Type.Enum(['off', 'record', 'replay'], {
          default: 'record',
          description:
            'record answers from the file what is there and writes down the rest; replay never touches the network',
        }),
        path: Type.String({
          minLength: 1,
          path: 'file',
          description: 'JSON Lines file of requests and answers',
        }),
        ttlHours: Type.Optional(
          Type.Number({
            exclusiveMinimum: 0,
            description: 'Age at which record asks anew; never by default',
          }),
        ),
      },
      { description: 'Records and replays what the web answers' },
    ),
  ),
  budget: Type.Optional(
    Type.Object(
      {
        maxCalls: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'Most calls one session of a run makes, repeated ones counted',
          }),
        ),
        maxCost: Type.Optional(
          Type.Number({
            minimum: 0,
            description: 'Most one session of a run spends; needs costPerCall',
          }),
        ),
        costPerCall: Type.Number({
          minimum: 0,
          default: 0,
          description: 'What the provider bills for a call',
        }),
        currency: Type.String({
          minLength: 1,
          default: 'USD',
          description: 'Of maxCost and costPerCall',
        }),
      },
      {
        description:
          'What a session of a run, up to its end or an interrupt, may spend on calls to the network',
      },
    ),
  ),
};

const CommonWebSettings = Type.Object(webProperties);
export type CommonWebSettings = Static<typeof CommonWebSettings>;

/** `web:` who is asked, and how. */
export const WebSearchSettings = Type.Object(
  {
    provider: Type.String({
      minLength: 1,
      description: 'tavily, serper, brave, exa, searxng, web_iq or custom',
    }),
    endpoint: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: "URL asked instead of the provider's own; searxng and custom need one",
      }),
    ),
    apiKeyEnv: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        description: 'Environment variable that holds the key',
      }),
    ),
    apiKeyHeader: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9-]+$',
        description: "Header that carries the key, bare, instead of the provider's own way",
      }),
    ),
    defaultParams: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description: "Parameters of the provider's, added to every request",
    }),
    ...webProperties,
  },
  { description: 'Who is asked on the web, and how' },
);
export type WebSearchSettings = Static<typeof WebSearchSettings>;

/** @throws Error for a limit that could never be reached. */
export function checkBudget(budget: CommonWebSettings['budget']): void {
  if (budget?.maxCost !== undefined && budget.costPerCall === 0) {
    throw new Error('budget.maxCost needs budget.costPerCall above 0.');
  }
}
