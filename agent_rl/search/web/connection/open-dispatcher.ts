import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

import { type buildConnector, type Dispatcher, EnvHttpProxyAgent } from 'undici';

import { AgentRlError, messageOf } from '../../../core/errors.ts';

export interface DispatcherOptions {
  /** Most connections to one origin. */
  connections: number;
  /** PEM file of authorities trusted besides the usual ones. */
  caFile?: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Makes connections that no proxy makes. */
  connector?: (options: buildConnector.BuildOptions) => buildConnector.connector;
}

/**
 * Pools of connections that honour `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, and trust `NODE_EXTRA_CA_CERTS` and
 * `caFile` besides the usual authorities.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a file of authorities that cannot be read, or an unusable proxy.
 */
export function openDispatcher(options: DispatcherOptions): Dispatcher {
  const { connections, environment } = options;
  const ca = authorities(options);
  const tls = ca === undefined ? {} : { ca };
  const { http, https, none } = proxiesOf(environment);
  try {
    return new EnvHttpProxyAgent({
      connections,
      // Nothing is sent on a connection before the last answer on it is read.
      pipelining: 1,
      connect: options.connector === undefined ? tls : options.connector(tls),
      requestTls: tls,
      proxyTls: tls,
      // Plain http is asked of the proxy as curl does; many proxies make tunnels to port 443 only.
      proxyTunnel: false,
      // Given even when empty: undici would look into the process's environment.
      httpProxy: http,
      httpsProxy: https,
      noProxy: none,
    });
  } catch (cause) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `HTTP_PROXY or HTTPS_PROXY cannot be used: ${messageOf(cause)}. Give a URL such as http://proxy.example:3128.`,
    );
  }
}

/** The proxies that an environment names, empty where it names none. */
export function proxiesOf(environment: DispatcherOptions['environment']) {
  const named = (name: string): string =>
    environment[name] ?? environment[name.toUpperCase()] ?? '';
  const http = named('http_proxy');
  return { http, https: named('https_proxy') || http, none: named('no_proxy') };
}

function authorities({ caFile, environment }: DispatcherOptions): string[] | undefined {
  if (caFile === undefined) return undefined;
  // A list of one's own replaces Node's, and with it what Node was configured to trust.
  const files = [caFile, environment['NODE_EXTRA_CA_CERTS']].filter((file) => file !== undefined);
  return [...rootCertificates, ...files.filter((file) => file !== '').map(readAuthority)];
}

function readAuthority(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch (cause) {
    throw unusable(file, messageOf(cause));
  }
  throw unusable(file, 'it holds no PEM certificate');
}

const unusable = (file: string, why: string): AgentRlError =>
  new AgentRlError('CONFIG_INVALID', `caFile ${file} cannot be used: ${why}.`);
