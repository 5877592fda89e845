import { type Static, Type } from 'typebox';

import {
  choice,
  integer,
  most,
  number,
  text,
  variable,
  within,
} from '../../config/blocks/block.ts';

/** Settings of every tool that uses the web. */
export const webProperties = {
  timeoutS: number('Seconds one attempt may take, to its last byte', within(0.01, 600, 20)),
  deadlineS: number(
    'Seconds for all attempts and the pauses between them; waiting for the rate limit does not count',
    within(0.01, 3600, 60),
  ),
  maxRetries: integer(
    'More tries after 429, 5xx and network errors; Retry-After is honoured',
    within(0, 10, 2),
  ),
  backoffFactor: number('Seconds before the first further try; doubled before each next one', {
    ...within(0, 60, 0.8),
    idleWith: { maxRetries: 0 },
  }),
  rateLimitPerMin: Type.Optional(
    integer(
      'Most starts in any minute, of all workers together; without limit by default',
      within(1, most.count),
    ),
  ),
  maxKiB: integer('Longest answer taken', within(1, 65_536, 2048)),
  caFile: Type.Optional(
    text('PEM file of authorities trusted besides the usual ones', { path: 'file', minLength: 1 }),
  ),
  cassette: Type.Optional(
    Type.Object(
      {
        mode: choice(
          'record answers from the file what is there and writes down the rest; replay never touches the network',
          ['off', 'record', 'replay'],
          'record',
        ),
        path: text('JSON Lines file of requests and answers', { minLength: 1, path: 'file' }),
        ttlHours: Type.Optional(
          number('Age at which record asks anew; never by default', {
            exclusiveMinimum: 0,
            maximum: 1e6,
            actsWith: { mode: 'record' },
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
          integer('Most calls one session of a run makes, repeated ones counted', within(0, 1e9)),
        ),
        maxCost: Type.Optional(
          number('Most one session of a run spends; needs costPerCall', within(0, 1e9)),
        ),
        costPerCall: number('What the provider bills for a call', within(0, 1e6, 0)),
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
    provider: text('tavily, serper, brave, exa, searxng, web_iq or custom', { minLength: 1 }),
    endpoint: Type.Optional(
      text("URL asked instead of the provider's own; searxng and custom need one", {
        pattern: '^https?://',
      }),
    ),
    apiKeyEnv: variable('Environment variable that holds the key'),
    apiKeyHeader: Type.Optional(
      text("Header that carries the key, bare, instead of the provider's own way", {
        pattern: '^[A-Za-z0-9-]+$',
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
