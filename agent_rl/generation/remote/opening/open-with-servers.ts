import { AgentRlError, messageOf } from '../../../core/errors.ts';
import type { GeneratorHost } from '../../../core/plugins/model/generator.ts';
import type { Generator } from '../../../core/services/generator.ts';
import { RemoteServer } from '../remote-server.ts';
import { clientsOf, type RemoteSettings } from '../remote-settings.ts';
import { isPassing } from '../server-failures.ts';

/**
 * Opens a generator over the servers that settings name. They are closed again when that fails.
 *
 * @param hint what to do about a server that does not answer
 * @throws AgentRlError `CONFIG_INVALID` for a server that cannot be asked; what opening throws
 */
export async function openWithServers(
  settings: RemoteSettings,
  { user, hint, host }: { user: string; hint: string; host: GeneratorHost },
  open: (servers: readonly RemoteServer[]) => Promise<Generator>,
): Promise<Generator> {
  const { requestsAtOnce } = settings;
  const servers = clientsOf(settings, user, host).map(
    ({ url, http }) => new RemoteServer({ url, http, requestsAtOnce, model: '' }),
  );
  try {
    return await open(servers);
  } catch (thrown) {
    await Promise.all(servers.map((server) => server.close()));
    if (!isPassing(thrown)) throw thrown;
    throw new AgentRlError('CONFIG_INVALID', `generator.urls: ${messageOf(thrown)} ${hint}`, {
      cause: thrown,
    });
  }
}
