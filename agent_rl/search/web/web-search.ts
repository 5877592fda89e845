import { Type, Value } from '../../core/typebox.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import type { SearchBackend, SearchHit, SearchRequest } from '../../core/services/search.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { PluginReport } from '../../core/plugins/tool.ts';
import { parseHiding } from '../../telemetry/redact.ts';
import { openDispatcher } from './connection/open-dispatcher.ts';
import { type FoundPage, type Provider, providerOf } from './providers.ts';
import { checkBudget, type WebSearchSettings } from './settings.ts';
import { WebAccess } from './web-access.ts';
import type { WebClient, WebRequest } from './web-client.ts';
import { WebFailure } from './web-failure.ts';

export interface OpenWebSearchOptions {
  settings: WebSearchSettings;
  /** Name of the tool, for its cassette. */
  scope: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/** A web search with what it reports. */
export interface WebSearchBackend extends SearchBackend {
  report(): PluginReport;
}

/**
 * Checks what the schema of `web:` cannot.
 *
 * @throws Error that says what is wrong and what to do.
 */
export function checkWebSearch(settings: WebSearchSettings): void {
  const { endpoint, apiKeyEnv, apiKeyHeader, budget, defaultParams } = settings;
  const provider = providerOf(settings.provider);
  if (provider.endpoint === undefined && endpoint === undefined) {
    throw new Error(
      `web.provider ${settings.provider} needs web.endpoint, such as http://localhost:8888/search.`,
    );
  }
  if (endpoint !== undefined) checkEndpoint(endpoint);
  if (provider.key === 'required' && apiKeyEnv === undefined) {
    throw new Error(
      `web.provider ${settings.provider} needs a key. Set web.apiKeyEnv to the environment variable that holds it.`,
    );
  }
  if (apiKeyHeader !== undefined && apiKeyEnv === undefined) {
    throw new Error(
      'web.apiKeyHeader has no effect without web.apiKeyEnv. Set web.apiKeyEnv, or remove web.apiKeyHeader.',
    );
  }
  for (const name of provider.own) {
    if (name in defaultParams)
      throw new Error(`web.defaultParams.${name} is set by the tool. Remove it.`);
  }
  checkBudget(budget);
}

function checkEndpoint(endpoint: string): void {
  const url = URL.parse?.(endpoint) ?? (URL.canParse(endpoint) ? new URL(endpoint) : null);
  if (url === null) throw new Error(`web.endpoint ${JSON.stringify(endpoint)} is not a URL.`);
  if (url.username !== '' || url.password !== '') {
    throw new Error(
      'web.endpoint must not contain a password. Put the key in an environment variable, and set web.apiKeyEnv to the name of that variable.',
    );
  }
}

/**
 * A search that asks a provider on the web.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a key that is not set, `CASSETTE_INVALID`, `CASSETTE_MISS`
 */
export function openWebSearch(options: OpenWebSearchOptions): WebSearchBackend {
  const { settings, scope, environment } = options;
  const provider = providerOf(settings.provider);
  const endpoint = new URL(settings.endpoint ?? provider.endpoint ?? '');
  // A replay needs no key, so that others can repeat a run.
  const key =
    settings.cassette?.mode === 'replay' || settings.apiKeyEnv === undefined
      ? undefined
      : secretOf(settings.apiKeyEnv, {
          user: `web.provider ${settings.provider}`,
          environment,
          remedy: 'Set it, or replay a cassette.',
        });
  const access = new WebAccess({
    settings,
    scope,
    origin: endpoint.origin,
    secrets: key === undefined ? [] : [key],
    isAnswer: (value) => Value.Check(Hits, value),
    dispatcher: () => openDispatcher({ ...settings, environment }),
  });
  const headers = { accept: 'application/json', ...authorisation(provider, key, settings) };
  const search = async (request: SearchRequest): Promise<readonly SearchHit[]> => {
    const { topK, signal = new AbortController().signal, call = '' } = request;
    const parameters = { ...provider.parameters(request), ...settings.defaultParams };
    const canonical = { provider: settings.provider, endpoint: endpoint.href, parameters };
    const ask = async (client: WebClient, until: AbortSignal): Promise<SearchHit[]> => {
      const sent = requestOf(provider.method, { endpoint, headers, parameters });
      const { status, body } = await client.send(sent, until);
      const text = body.toString('utf8');
      if (status >= 300) {
        const keyRefused = status >= 400 && refusesKey(text, request.query);
        throw refusal(settings.provider, endpoint, { status, keyRefused });
      }
      // A server may repeat the key it was sent.
      return provider.pages(parseJson(text, endpoint, access.hide)).map(hitOf);
    };
    return (await access.answer({ request: canonical, call }, ask, signal)).slice(0, topK);
  };
  return { search, report: () => access.report(), close: () => access.close() };
}

/** Headers that carry the key, in the provider's way unless the settings name a header. */
function authorisation(
  provider: Provider,
  key: string | undefined,
  { apiKeyHeader }: WebSearchSettings,
): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  return apiKeyHeader === undefined
    ? provider.authorise(key)
    : { [apiKeyHeader.toLowerCase()]: key };
}

function requestOf(
  method: Provider['method'],
  {
    endpoint,
    headers,
    parameters,
  }: Required<Pick<WebRequest, 'headers'>> & {
    endpoint: URL;
    parameters: Readonly<Record<string, unknown>>;
  },
): WebRequest {
  if (method === 'POST') {
    const json = { ...headers, 'content-type': 'application/json' };
    return { url: endpoint, method, headers: json, body: JSON.stringify(parameters) };
  }
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) {
    url.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return { url, method, headers };
}

const hitOf = (page: FoundPage, index: number): SearchHit => ({
  documentId: page.url,
  title: tidy(page.title),
  text: tidy(page.text),
  url: page.url || undefined,
  score: page.score ?? 1 / (index + 1),
});

const Hits = Type.Array(
  Type.Object({
    documentId: Type.String(),
    title: Type.String(),
    text: Type.String(),
    url: Type.Optional(Type.String()),
    score: Type.Number(),
  }),
);

const tidy = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();

function parseJson(text: string, { host }: URL, hide: (text: string) => string): unknown {
  try {
    return parseHiding(text, hide);
  } catch {
    throw new WebFailure('bad-response', `the answer of ${host} is not JSON`);
  }
}

/** Another try, or another query, would not help: the run should not go on as if there were no results. */
function refusal(
  provider: string,
  { host }: URL,
  { status, keyRefused }: { status: number; keyRefused: boolean },
): Error {
  if (status < 400) {
    return new WebFailure('redirect', `${host} answers with a redirect, which is not followed`);
  }
  const guess = status === 401 || status === 403 ? 'the key may be wrong' : '';
  const hint = keyRefused ? 'the key is refused' : (providerOf(provider).hints?.[status] ?? guess);
  const denied = keyRefused || [401, 402, 403, 404, 405, 432, 433].includes(status);
  const text = `${provider} at ${host} answers ${status}${hint === '' ? '' : `: ${hint}`}`;
  return denied
    ? new AgentRlError(
        'WEB_REQUEST_DENIED',
        `${text}. Check web.apiKeyEnv, web.endpoint and the account.`,
      )
    : new WebFailure('client-error', text);
}

const key = String.raw`(?:(?:api|access|subscription|service|bearer|auth\w*) (?:key|token|secret)|apikey|credentials?)`;
const fault = String.raw`(?:invalid|not valid|not found|unknown|missing|wrong|incorrect|malformed|expired|revoked|disabled|unauthori[sz]ed)`;
const refused = new RegExp(`\\b${key}\\b.{0,40}\\b${fault}\\b|\\b${fault}\\b.{0,40}\\b${key}\\b`);

/**
 * Whether the body of a status of 400 to 499 says that the key is not accepted: some providers have no status of its
 * own for that (Brave: 422 with `SUBSCRIPTION_TOKEN_INVALID`).
 *
 * @param query may be repeated in the body; what the policy wrote is not the provider's word.
 */
export function refusesKey(body: string, query: string): boolean {
  const said = body.replaceAll(query === '' ? '\0' : query, '');
  return refused.test(said.toLowerCase().replaceAll(/[^a-z]+/g, ' '));
}
