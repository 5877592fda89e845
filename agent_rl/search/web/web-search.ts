import { secretOf } from '../../core/secret-of.ts';
import type { SearchBackend, SearchHit, SearchRequest } from '../../core/services/search.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { PluginReport } from '../../core/plugins/tool.ts';
import { parseHiding } from '../../telemetry/redact.ts';
import { openDispatcher } from './connection/open-dispatcher.ts';
import type { FoundPage, Provider } from './providers/index.ts';
import { providerOf } from './providers/index.ts';
import { refusesKey } from './refuses-key.ts';
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
      `web.provider ${provider.name} needs web.endpoint, such as http://localhost:8888/search.`,
    );
  }
  if (endpoint !== undefined) checkEndpoint(endpoint);
  if (provider.key === 'required' && apiKeyEnv === undefined) {
    throw new Error(
      `web.provider ${provider.name} needs web.apiKeyEnv, the name of the environment variable that holds its key.`,
    );
  }
  if (apiKeyHeader !== undefined && apiKeyEnv === undefined) {
    throw new Error('web.apiKeyHeader does nothing without web.apiKeyEnv.');
  }
  for (const name of provider.own) {
    if (name in defaultParams)
      throw new Error(`web.defaultParams.${name} cannot be given: the tool sets it.`);
  }
  checkBudget(budget);
}

function checkEndpoint(endpoint: string): void {
  const url = URL.parse?.(endpoint) ?? (URL.canParse(endpoint) ? new URL(endpoint) : null);
  if (url === null) throw new Error(`web.endpoint ${JSON.stringify(endpoint)} is not a URL.`);
  if (url.username !== '' || url.password !== '') {
    throw new Error('web.endpoint may hold no password: give the key by web.apiKeyEnv.');
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
          user: `web.provider ${provider.name}`,
          environment,
          remedy: 'Set it, or replay a cassette.',
        });
  const access = new WebAccess({
    settings,
    scope,
    origin: endpoint.origin,
    secrets: key === undefined ? [] : [key],
    isAnswer: isHits,
    dispatcher: () => openDispatcher({ ...settings, environment }),
  });
  return new WebSearch({ provider, endpoint, key, settings, access });
}

interface WebSearchParts {
  provider: Provider;
  endpoint: URL;
  key: string | undefined;
  settings: WebSearchSettings;
  access: WebAccess;
}

interface Asked {
  parameters: Readonly<Record<string, unknown>>;
  query: string;
}

class WebSearch implements WebSearchBackend {
  constructor(private readonly parts: WebSearchParts) {}

  async search(request: SearchRequest): Promise<readonly SearchHit[]> {
    const { access, provider, endpoint, settings } = this.parts;
    const { topK, signal = new AbortController().signal, call = '' } = request;
    const parameters = { ...provider.parameters(request), ...settings.defaultParams };
    const canonical = { provider: provider.name, endpoint: endpoint.href, parameters };
    const hits = await access.answer(
      { request: canonical, call },
      (client, until) => this.#ask(client, { parameters, query: request.query }, until),
      signal,
    );
    return hits.slice(0, topK);
  }

  report(): PluginReport {
    return this.parts.access.report();
  }

  async close(): Promise<void> {
    await this.parts.access.close();
  }

  async #ask(
    client: WebClient,
    { parameters, query }: Asked,
    signal: AbortSignal,
  ): Promise<readonly SearchHit[]> {
    const { provider, endpoint, access } = this.parts;
    const { status, body } = await client.send(this.#request(parameters), signal);
    const text = body.toString('utf8');
    if (status >= 300) {
      const keyRefused = status >= 400 && refusesKey(text, query);
      throw refusal(provider, endpoint, { status, keyRefused });
    }
    // A server may repeat the key it was sent.
    const answer = parseJson(text, endpoint, access.hide);
    return provider.pages(answer).map(hitOf);
  }

  #request(parameters: Readonly<Record<string, unknown>>): WebRequest {
    const { provider, endpoint, key, settings } = this.parts;
    const authorisation =
      key === undefined
        ? {}
        : settings.apiKeyHeader === undefined
          ? provider.authorise(key)
          : { [settings.apiKeyHeader.toLowerCase()]: key };
    const headers = { accept: 'application/json', ...authorisation };
    if (provider.method === 'POST') {
      const json = { ...headers, 'content-type': 'application/json' };
      return { url: endpoint, method: 'POST', headers: json, body: JSON.stringify(parameters) };
    }
    const url = new URL(endpoint);
    for (const [name, value] of Object.entries(parameters)) {
      url.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    return { url, method: 'GET', headers };
  }
}

const hitOf = (page: FoundPage, index: number): SearchHit => ({
  documentId: page.url,
  title: tidy(page.title),
  text: tidy(page.text),
  ...(page.url === '' ? {} : { url: page.url }),
  score: page.score ?? 1 / (index + 1),
});

const isHits = (value: unknown): boolean => Array.isArray(value) && value.every(isHit);

function isHit(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { documentId, title, text, url = '', score } = value as Record<keyof SearchHit, unknown>;
  const texts = [documentId, title, text, url].every((part) => typeof part === 'string');
  return texts && typeof score === 'number';
}

/** One line, without control characters. */
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
  provider: Provider,
  { host }: URL,
  { status, keyRefused }: { status: number; keyRefused: boolean },
): Error {
  if (status < 400) {
    return new WebFailure('redirect', `${host} answers with a redirect, which is not followed`);
  }
  const guess = status === 401 || status === 403 ? 'the key may be wrong' : '';
  const hint = keyRefused ? 'the key is refused' : (provider.hints?.[status] ?? guess);
  const denied = keyRefused || [401, 402, 403, 404, 405, 432, 433].includes(status);
  const text = `${provider.name} at ${host} answers ${status}${hint === '' ? '' : `: ${hint}`}`;
  return denied
    ? new AgentRlError(
        'WEB_REQUEST_DENIED',
        `${text}. Check web.apiKeyEnv, web.endpoint and the account.`,
      )
    : new WebFailure('client-error', text);
}
