import { type Static, Type, Value } from '../../core/typebox.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { ToolHost, ToolShared } from '../../core/plugins/tool.ts';
import {
  decodeText,
  followRedirects,
  isAllowedHost,
  joinWebReports,
  mimeOf,
  openDispatcher,
  portOf,
  WebAccess,
  WebFailure,
} from '../../search/web/index.ts';
import type { WebClient, WebRequest } from '../../search/web/index.ts';
import { placeholdersOf } from './fill-template.ts';
import type { HttpSettings } from './settings.ts';

const HttpAnswer = Type.Object({ status: Type.Integer(), text: Type.String() });
type HttpAnswer = Static<typeof HttpAnswer>;

/** The way of an http tool to its server, shared by all its instances in a run. */
export interface SharedHttp extends ToolShared {
  /** @throws WebFailure; AgentRlError as `WebAccess.answer` does */
  ask(request: WebRequest, call: string, signal: AbortSignal): Promise<HttpAnswer>;
}

/** @throws AgentRlError `CONFIG_INVALID` for a secret that is not set, `CASSETTE_INVALID`, `CASSETTE_MISS` */
export async function openHttp(
  settings: HttpSettings,
  { environment }: ToolHost,
): Promise<SharedHttp> {
  const { headers, secrets } = headersOf(settings, environment);
  const access = new WebAccess({
    settings,
    scope: settings.name,
    origin: hostOf(settings),
    secrets,
    isAnswer: (value) => Value.Check(HttpAnswer, value),
    dispatcher: () => openDispatcher({ ...settings, environment }),
  });
  return {
    ask: ({ url, method, body }, call, signal) => {
      const request = { tool: settings.name, method, url: url.href, body };
      return access.answer(
        { request, call },
        async (client, until) => {
          const sent = { url, method, headers, body };
          const answer = await follow(client, sent, settings, until);
          return { status: answer.status, text: access.hide(answer.text) };
        },
        signal,
      );
    },
    report: () => access.report(),
    joinReports: joinWebReports,
    close: () => access.close(),
  };
}

/** The host as the settings write it; a template where the model chooses it. */
const hostOf = ({ url }: HttpSettings): string => /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? '';

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Headers with the values of their variables. A replay sends none and needs none. */
function headersOf(
  { headers, name: tool, cassette }: HttpSettings,
  environment: ToolHost['environment'],
) {
  const secrets: string[] = [];
  if (cassette?.mode === 'replay') return { headers: {}, secrets };
  const filled = Object.entries(headers).map(([header, template]) => {
    const value = template.replaceAll(variable, (_, name: string) => {
      const secret = secretOf(name, {
        user: `The header ${header} of tool ${tool}`,
        environment,
        remedy: 'Set it, or replay a cassette.',
      });
      secrets.push(secret);
      return secret;
    });
    return [header.toLowerCase(), value] as const;
  });
  return { headers: Object.fromEntries(filled), secrets };
}

/** The answer at the end of the redirects. Secrets go to the first server only. */
async function follow(
  client: WebClient,
  request: WebRequest,
  settings: HttpSettings,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { status, headers, body, url } = await followRedirects(request.url, {
    ask: async (at, hop) => {
      requireAllowed(at, settings);
      const again = { url: at, method: 'GET' as const, headers: headersFor(at, request) };
      const first = { ...request, headers: { ...bodyHeaders(request), ...request.headers } };
      return client.send(hop === 0 ? first : again, signal);
    },
    target: (location, from) => {
      if (URL.canParse(location, from.href)) return new URL(location, from.href);
      throw new WebFailure('redirect', `${from.host} redirects to what is not a URL`);
    },
  });
  if (status === 401) throw denied(settings, url);
  return { status, text: readable(body, headers['content-type']) };
}

/** Many servers leave a body unread whose type is not named. */
const bodyHeaders = ({ body }: WebRequest): Readonly<Record<string, string>> =>
  body === undefined ? {} : { 'content-type': 'application/json' };

const headersFor = (url: URL, request: WebRequest) =>
  url.origin === request.url.origin ? (request.headers ?? {}) : {};

/** @throws WebFailure `redirect`, `address-refused` */
function requireAllowed(url: URL, settings: HttpSettings): void {
  const own = hostOf(settings);
  const allowed = [...(placeholdersOf(own).length > 0 ? [] : [own]), ...settings.allowHosts];
  const http = url.protocol === 'http:' || url.protocol === 'https:';
  if (http && isAllowedHost(allowed, { hostname: url.hostname, port: portOf(url) })) return;
  throw new WebFailure('address-refused', `${url.host || url.protocol} is not among allowHosts`);
}

function readable(body: Buffer, contentType = ''): string {
  const mime = mimeOf(contentType);
  if (mime !== '' && !/^text\/|[/+](?:json|xml|x-ndjson|yaml)$/.test(mime)) {
    throw new WebFailure('not-text', `the answer is ${mime.slice(0, 60)} and not text`);
  }
  return decodeText(body, contentType).text.trim();
}

const denied = ({ name }: HttpSettings, { host }: URL): AgentRlError =>
  new AgentRlError(
    'WEB_REQUEST_DENIED',
    `Tool ${name}: ${host} answers 401. Check the variables named in its headers.`,
  );
