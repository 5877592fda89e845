import { type buildConnector, type Dispatcher, EnvHttpProxyAgent } from 'undici';

import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { authorities, type AuthoritiesOptions } from '../../../http/authorities.ts';

export interface DispatcherOptions extends AuthoritiesOptions {
  /** Most connections to one origin. 16 by default. */
  connections?: number;
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
  const { connections = 16, environment } = options;
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
      `HTTP_PROXY or HTTPS_PROXY cannot be used: ${messageOf(cause)}. Use a URL such as http://proxy.example:3128.`,
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
