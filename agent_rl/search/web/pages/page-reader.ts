import { type Static, Type, Value } from '../../../core/typebox.ts';
import type { PluginReport } from '../../../core/plugins/tool.ts';
import { decodeText, mimeOf } from './decode-text.ts';
import {
  guardedConnector,
  isAllowedHost,
  portOf,
  publicAddresses,
  type Resolve,
  systemResolve,
} from '../connection/address-guard.ts';
import { openDispatcher, proxiesOf } from '../connection/open-dispatcher.ts';
import { closePageThread, readInThread } from './read-in-thread.ts';
import { followRedirects } from '../redirects.ts';
import type { CommonWebSettings } from '../settings.ts';
import { joinWebReports, WebAccess } from '../web-access.ts';
import type { WebClient, WebResponse } from '../web-client.ts';
import { WebFailure } from '../web-failure.ts';

export interface PageReaderOptions {
  settings: CommonWebSettings & {
    /** Hosts that may have private addresses. */
    allowHosts: readonly string[];
    /** Whether a proxy is trusted to refuse private addresses of names that do not resolve here. */
    proxyChecksAddresses: boolean;
  };
  scope: string;
  environment: Readonly<Record<string, string | undefined>>;
  resolve?: Resolve;
}

const ReadPage = Type.Object({
  /** Where the redirects ended. */
  url: Type.String(),
  title: Type.String(),
  text: Type.String(),
});
export type ReadPage = Static<typeof ReadPage>;

/** Reads pages whose addresses a model or another page chose. */
export class PageReader {
  readonly #access: WebAccess;

  /** @throws AgentRlError `CONFIG_INVALID`, `CASSETTE_INVALID`, `CASSETTE_MISS` */
  constructor(private readonly options: PageReaderOptions) {
    const { settings, scope, environment, resolve = systemResolve } = options;
    const connector = guardedConnector(settings.allowHosts, resolve);
    this.#access = new WebAccess({
      settings,
      scope,
      origin: scope,
      secrets: [],
      isAnswer: (value) => Value.Check(ReadPage, value),
      dispatcher: () => openDispatcher({ ...settings, environment, connector }),
    });
  }

  /**
   * The readable text of a page.
   *
   * @param call names the call within its run.
   * @throws WebFailure; AgentRlError `WEB_BUDGET_SPENT`, `CASSETTE_MISS`; the signal's reason
   */
  async read(address: string, call: string, signal: AbortSignal): Promise<ReadPage> {
    const url = pageUrl(address);
    return this.#access.answer(
      { request: { page: url.href }, call },
      (client, until) => this.#read(client, url, until),
      signal,
    );
  }

  report(): PluginReport {
    return this.#access.report();
  }

  joinReports(earlier: PluginReport, session: PluginReport): PluginReport {
    return joinWebReports(earlier, session);
  }

  async close(): Promise<void> {
    await this.#access.close();
    await closePageThread();
  }

  async #read(client: WebClient, first: URL, signal: AbortSignal): Promise<ReadPage> {
    const headers = { accept: 'text/html, text/plain;q=0.9, */*;q=0.1' };
    const answer = await followRedirects(first, {
      ask: async (url) => {
        await this.#requirePublic(url);
        return client.send({ url, method: 'GET', headers }, signal);
      },
      target: pageUrl,
    });
    return pageOf(answer, signal);
  }

  /** Before each hop; the connection checks again what it connects to. */
  async #requirePublic(url: URL): Promise<void> {
    const { settings, environment, resolve = systemResolve } = this.options;
    if (isAllowedHost(settings.allowHosts, { hostname: url.hostname, port: portOf(url) })) return;
    const { http, https } = proxiesOf(environment);
    try {
      await publicAddresses(url.hostname, resolve);
    } catch (error) {
      const unknown = error instanceof WebFailure && error.kind === 'network';
      const proxied = (url.protocol === 'https:' ? https : http) !== '';
      if (unknown && proxied && settings.proxyChecksAddresses) return;
      throw error;
    }
  }
}

/** @throws WebFailure `address-refused` for what is not the address of a page. */
function pageUrl(address: string, base?: URL): URL {
  const shown = JSON.stringify(address.slice(0, 200));
  if (!URL.canParse(address, base?.href)) {
    throw new WebFailure('address-refused', `${shown} is not a URL`);
  }
  const url = new URL(address, base?.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new WebFailure('address-refused', `${shown} is not an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new WebFailure('address-refused', 'a URL may hold no password');
  }
  url.hash = '';
  return url;
}

async function pageOf(
  { status, headers, body, url }: WebResponse & { url: URL },
  signal: AbortSignal,
): Promise<ReadPage> {
  if (status >= 300) throw new WebFailure('client-error', `${url.host} answers ${status}`);
  const type = headers['content-type'] ?? '';
  requireText(type);
  const { text } = decodeText(body, type);
  const page = isHtml(type, text)
    ? await readInThread(text, { signal })
    : { title: '', text: text.trim() };
  return { url: url.href, ...page };
}

function requireText(type: string): void {
  const mime = mimeOf(type);
  const readable = mime === '' || /^text\/|[/+](?:json|xml|xhtml\+xml)$/.test(mime);
  if (!readable) throw new WebFailure('not-text', `the page is ${mime.slice(0, 60)} and not text`);
}

const isHtml = (type: string, text: string): boolean =>
  /html/i.test(type) || (type === '' && /^\s*(?:<!doctype html|<html)/i.test(text));
