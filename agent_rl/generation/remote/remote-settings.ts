import { type Static, Type } from '../../core/typebox.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { GeneratorHost } from '../../core/plugins/model/generator.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { HttpClient } from '../../http/http-client.ts';
import { serverUrl } from '../../http/server-url.ts';

/** Settings of all generators that ask servers. */
export const remoteSettings = {
  urls: Type.Array(Type.String({ minLength: 1 }), {
    description: 'Addresses of the servers; all serve the same model',
    minItems: 1,
    uniqueItems: true,
  }),
  model: Type.Optional(
    Type.String({
      description: 'Name of the model on the servers; optional if they have only one.',
      minLength: 1,
    }),
  ),
  apiKeyEnv: Type.Optional(
    Type.String({ description: 'Environment variable that holds the key.', minLength: 1 }),
  ),
  requestsAtOnce: Type.Integer({
    description: 'Maximum concurrent requests per server; further requests wait.',
    minimum: 1,
    maximum: 65_536,
    default: 64,
  }),
  deadlineS: Type.Number({
    description:
      'Seconds that a server may take to answer a request. A long turn is split into requests; each asks for at most 1,024 tokens and at most 2 tokens per second of this limit',
    exclusiveMinimum: 0,
    maximum: 86_400,
    default: 600,
  }),
  patienceS: Type.Number({
    description:
      'Seconds that the run waits while no server is reachable, or while a busy server keeps rejecting a request. Then the run fails.',
    minimum: 0,
    maximum: 86_400,
    default: 120,
  }),
  tolerance: Type.Number({
    description:
      'Maximum difference, in nats, between the log-probabilities that a server and the run compute for the same token after a fixed prompt.',
    exclusiveMinimum: 0,
    maximum: 10,
    default: 1e-3,
  }),
  compareInEvaluation: Type.Boolean({
    description:
      "Whether an evaluation loads the run's model once to compare its log-probabilities with the server's; training always does.",
    default: true,
  }),
};

export const RemoteSettings = Type.Object(remoteSettings);
export type RemoteSettings = Static<typeof RemoteSettings>;

/** Seconds that a server may take to say what it is. */
export const helloS = 60;

/** Clients of the servers that settings name. @throws AgentRlError `CONFIG_INVALID` */
export function clientsOf(
  { urls, apiKeyEnv, requestsAtOnce }: RemoteSettings,
  user: string,
  { environment, warn }: Pick<GeneratorHost, 'environment' | 'warn'>,
): { url: string; http: HttpClient }[] {
  const token = apiKeyEnv && secretOf(apiKeyEnv, { user, environment });
  const connections = requestsAtOnce + 4;
  return urls.map((given, index) => {
    const url = serverUrl(given, `generator.urls[${index}]`, 'generator.apiKeyEnv');
    const http = new HttpClient({ url, token, connections, pauseMs: 200, onRetry: warn });
    return { url, http };
  });
}

/** @param problem what a server says or lacks, and what to do, after its address */
export const unsuited = (url: string, problem: string, cause?: unknown): AgentRlError =>
  new AgentRlError('CONFIG_INVALID', `generator.urls: ${url} ${problem}`, { cause });
