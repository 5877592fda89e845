import { AgentRlError, messageOf } from '../../core/errors.ts';
import { HttpClient, type HttpClientOptions } from '../../http/http-client.ts';
import { FusionServer } from './fusion-server.ts';
import { OwnServer, type RemoteServer } from './own-server.ts';
import { CapabilitiesAnswer, check, protocolVersion } from './protocol.ts';
import { SandboxServer } from './sandbox-server.ts';

/** Statuses that mean that the server has no such page. */
const unknownPage: ReadonlySet<number> = new Set([404, 405]);

/**
 * Connects to a server and detects its kind.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID` for an unusable file of certificate authorities
 */
export async function openServer(
  connection: HttpClientOptions,
  patienceS: number,
): Promise<SandboxServer> {
  const { url } = connection;
  const http = new HttpClient(connection);
  try {
    return new SandboxServer(url, http, await detect(http, url, patienceS));
  } catch (error) {
    await http.close();
    if (AgentRlError.is(error)) throw error;
    throw unavailable(`Sandbox server: ${withRemedy(withAddress(url, messageOf(error)))}`, error);
  }
}

const unavailable = (message: string, cause?: unknown): AgentRlError =>
  new AgentRlError('SANDBOX_UNAVAILABLE', message, { cause });

/** A message with the address of the server it is about, once. */
export const withAddress = (url: string, message: string): string =>
  message.includes(url) ? message : `${url}: ${message}`;

/** A failure with what to do about it. */
export const withRemedy = (message: string): string =>
  `${message.replace(/\.$/, '')}. Check that \`agent-rl sandbox serve\` or a compatible server runs at sandbox.url and can be reached from this machine.`;

/** Which kind of server answers. @throws AgentRlError `SANDBOX_UNAVAILABLE`, NoAnswer */
async function detect(http: HttpClient, url: string, patienceS: number): Promise<RemoteServer> {
  const request = { method: 'GET', path: '/capabilities', deadlineS: patienceS } as const;
  const { status, json, text } = await http.send({ ...request, again: true });
  if (unknownPage.has(status)) return FusionServer.open(http, patienceS);
  if (status === 401 || status === 403) {
    throw unavailable(
      `The sandbox server ${url} rejects the token (${status}). Set sandbox.tokenEnv to the environment variable that holds the token the server was started with.`,
    );
  }
  const checked = check(CapabilitiesAnswer, json);
  if (status !== 200 || 'problems' in checked) {
    throw unavailable(
      `The sandbox server ${url} answers GET /capabilities with ${status} and an unknown body: ${text.slice(0, 200)}. Set sandbox.url to the address of \`agent-rl sandbox serve\` or of a server that supports POST /run_code.`,
    );
  }
  if (checked.value.protocol !== protocolVersion) {
    throw unavailable(
      `The sandbox server ${url} uses protocol version ${checked.value.protocol}, this package uses version ${protocolVersion}. Install the same version of agent_rl on both machines.`,
    );
  }
  return new OwnServer(http, checked.value, patienceS);
}
