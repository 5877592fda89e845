import { type Static, Type } from '../../core/typebox.ts';
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
  timeoutS: number('Seconds that one attempt may take, up to the last byte', within(0.01, 600, 20)),
  deadlineS: number(
    'Seconds for all attempts and the pauses between them; waiting for the rate limit does not count',
    within(0.01, 3600, 60),
  ),
  maxRetries: integer(
    'Retries after 429, 5xx and network errors; Retry-After is honoured',
    within(0, 10, 2),
  ),
  backoffFactor: number('Seconds before the first retry; doubled before each further retry', {
    ...within(0, 60, 0.8),
    idleWith: { maxRetries: 0 },
  }),
  rateLimitPerMin: Type.Optional(
    integer(
      'Maximum requests per minute over all workers; no limit by default',
      within(1, most.count),
    ),
  ),
  maxKiB: integer('Longest answer accepted, in KiB', within(1, 65_536, 2048)),
  caFile: Type.Optional(
    text('PEM file of certificate authorities to trust in addition to the usual ones', {
      path: 'file',
      minLength: 1,
    }),
  ),
  cassette: Type.Optional(
    Type.Object(
      {
        mode: choice(
          'Where answers come from. record: from the file; if the file has no answer, from the network, and that answer is recorded. replay: only from the file. off: only from the network',
          ['off', 'record', 'replay'],
          'record',
        ),
        path: text('JSON Lines file of requests and answers', { minLength: 1, path: 'file' }),
        ttlHours: Type.Optional(
          number(
            'Age in hours after which mode record replaces a recorded answer; by default it never does',
            {
              exclusiveMinimum: 0,
              maximum: 1e6,
              actsWith: { mode: 'record' },
            },
          ),
        ),
      },
      { description: 'Records and replays answers from the web' },
    ),
  ),
  budget: Type.Optional(
    Type.Object(
      {
        maxCalls: Type.Optional(
          integer('Maximum calls in one session of a run, retries included', within(0, 1e9)),
        ),
        maxCost: Type.Optional(
          number('Maximum cost of one session of a run; needs costPerCall', within(0, 1e9)),
        ),
        costPerCall: number('Price of one call', within(0, 1e6, 0)),
      },
      {
        description:
          'Limits on the network calls of one session of a run. A session lasts until the run ends or is interrupted',
      },
    ),
  ),
};

const CommonWebSettings = Type.Object(webProperties);
export type CommonWebSettings = Static<typeof CommonWebSettings>;

/** `web:` the provider and how it is called. */
export const WebSearchSettings = Type.Object(
  {
    provider: text('tavily, serper, brave, exa, searxng, web_iq or custom', { minLength: 1 }),
    endpoint: Type.Optional(
      text("URL to request instead of the provider's own; required for searxng and custom", {
        pattern: '^https?://',
      }),
    ),
    apiKeyEnv: variable('Environment variable that holds the key'),
    apiKeyHeader: Type.Optional(
      text(
        "Name of a header that holds only the key, for a server that does not take the key in the provider's usual way",
        {
          pattern: '^[A-Za-z0-9-]+$',
        },
      ),
    ),
    defaultParams: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description: 'Provider-specific parameters added to every request',
    }),
    ...webProperties,
  },
  { description: 'The web search provider and how it is called' },
);
export type WebSearchSettings = Static<typeof WebSearchSettings>;

/** @throws Error for a limit that could never be reached. */
export function checkBudget(budget: CommonWebSettings['budget']): void {
  if (budget?.maxCost !== undefined && budget.costPerCall === 0) {
    throw new Error(
      'budget.maxCost has no effect without budget.costPerCall. Set budget.costPerCall above 0.',
    );
  }
}
