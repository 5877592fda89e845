import type { Client, Tool as ListedTool } from '@modelcontextprotocol/client';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { TransientError } from '../../core/failure.ts';
import type { ToolHost } from '../../core/plugins/tool.ts';
import { optionalPackage } from '../../core/wire/optional-package.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { WebFailure } from '../../search/web/index.ts';
import { hideSecrets, type Redact, secretValues } from '../../telemetry/redact.ts';
import type { McpSettings } from './settings.ts';

const sdk = () =>
  optionalPackage(
    async () => {
      const client = await import('@modelcontextprotocol/client');
      return { ...client, ...(await import('@modelcontextprotocol/client/stdio')) };
    },
    { user: 'A tool of type mcp', install: '@modelcontextprotocol/client@2' },
  );

/** Of stderr, what is kept and what a message shows. */
const [keptStderr, shownStderr] = [16_384, 500];
/** Milliseconds that the end of a session at a server may take. */
const tellMs = 2000;

/** As the client has it for a program's answers. */
const mostAnswerBytes = 10 * 2 ** 20;
const tooLong = 'its answer is longer than 10 MB';

/** Ends an answer to a call that is too long; what a server sends of itself has no end. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (init?.method !== 'POST' || response.body === null) return response;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (bytes > mostAnswerBytes) controller.error(new Error(tooLong));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(bound), response);
}

type Ending = (client: Client) => Promise<void>;

/** A connection to an MCP server. */
export class McpConnection {
  /** Why it can be used no more. */
  #ended: string | undefined;
  #toolChanges = 0;

  private constructor(
    private readonly client: Client,
    private readonly settings: McpSettings,
    /** Takes the secrets of the environment, and what the server was given, out of a text. */
    readonly hide: Redact,
    private readonly end: Ending,
  ) {
    // The client has no events but these.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onclose = () => {
      this.#ended ??= 'it closed the connection';
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onerror = ({ message }) => {
      if (/maximum size/.test(message)) this.#ended = tooLong;
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.#toolChanges += 1;
    });
  }

  /**
   * Connects to a server, which is started where it is a program.
   *
   * @throws AgentRlError `CONFIG_INVALID` without the package or a variable, or where the server refuses the key;
   * TransientError when the server is not there
   */
  static async open(
    settings: McpSettings,
    { environment }: ToolHost,
    signal?: AbortSignal,
  ): Promise<McpConnection> {
    const { Client: SdkClient, StdioClientTransport, StreamableHTTPClientTransport } = await sdk();
    const client = new SdkClient({ name: 'agent_rl', version: '1' });
    const { name, command, url, env, apiKeyEnv, connectS } = settings;
    const user = `The MCP server ${name}`;
    const given = [...env, ...(apiKeyEnv === undefined ? [] : [apiKeyEnv])].map(
      (variable) => [variable, secretOf(variable, { user, environment })] as const,
    );
    const secrets = given.map(([, value]) => value);
    const hide = hideSecrets([...secretValues(environment), ...secrets]);
    let stderr = '';
    const connecting = { timeout: 1000 * connectS, ...(signal && { signal }) };
    const connected = async (): Promise<Ending> => {
      if (url !== undefined) {
        const headers = apiKeyEnv === undefined ? {} : { authorization: `Bearer ${secrets[0]}` };
        const http = new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers },
          fetch: boundedFetch,
        });
        await client.connect(http, connecting);
        return async (ending) => {
          const ended = http.terminateSession().catch(() => undefined);
          await Promise.race([ended, new Promise((over) => setTimeout(over, tellMs).unref())]);
          await ending.close();
        };
      }
      const [program = '', ...args] = command ?? [];
      const own = Object.fromEntries(given);
      const started = new StdioClientTransport({
        command: program,
        args,
        env: own,
        stderr: 'pipe',
      });
      started.stderr?.on('data', (chunk: Buffer) => {
        stderr = (stderr + chunk.toString()).slice(-keptStderr);
      });
      await client.connect(started, connecting);
      return (ending) => ending.close();
    };
    try {
      return new McpConnection(client, settings, hide, await connected());
    } catch (thrown) {
      await client.close().catch(() => undefined);
      signal?.throwIfAborted();
      // A part of a secret that was cut would not be hidden.
      const said = hide(stderr).trim().slice(-shownStderr);
      const why = `${user} (${url ?? command?.join(' ')}) cannot be used: ${hide(messageOf(thrown))}.`;
      const text = said === '' ? why : `${why} It wrote: ${said}`;
      if (isRefusal(thrown)) throw new AgentRlError('CONFIG_INVALID', text);
      throw new TransientError(text);
    }
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** How often the server said that its tools changed. */
  get toolChanges(): number {
    return this.#toolChanges;
  }

  /** What the server offers, in the order of names. */
  async tools(): Promise<readonly ListedTool[]> {
    const { tools } = await this.client.listTools(undefined, {
      timeout: 1000 * this.settings.connectS,
    });
    return tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * @throws WebFailure for a call without an answer, `network` where the connection ended; TransientError where the server is
   * not there; AgentRlError `CONFIG_INVALID` where it refuses the key; the signal's reason
   */
  async call(name: string, args: Record<string, unknown>, signal: AbortSignal) {
    const { deadlineS, longestS } = this.settings;
    if (this.#ended !== undefined)
      throw new WebFailure('network', `its server is gone: ${this.#ended}`);
    try {
      return await this.client.callTool(
        { name, arguments: args },
        {
          timeout: 1000 * deadlineS,
          maxTotalTimeout: 1000 * longestS,
          resetTimeoutOnProgress: true,
          onprogress: () => undefined,
          signal,
        },
      );
    } catch (thrown) {
      signal.throwIfAborted();
      throw this.#failureOf(thrown);
    }
  }

  #failureOf(thrown: unknown): Error {
    const { code } = thrown as { code?: unknown };
    const { name, deadlineS, longestS } = this.settings;
    if (this.#ended === tooLong || messageOf(thrown).includes(tooLong))
      return new WebFailure('too-large', tooLong);
    if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED')
      return new WebFailure('network', this.#ended ?? 'it closed the connection');
    if (code === 'REQUEST_TIMEOUT')
      return new WebFailure(
        'timeout',
        `no answer within ${deadlineS} s without progress, or ${longestS} s in all`,
      );
    const text = `The MCP server ${name} failed: ${this.hide(messageOf(thrown))}`;
    if (isRefusal(thrown)) return new AgentRlError('CONFIG_INVALID', text);
    const status = statusOf(thrown);
    // The server has forgotten the session, and what was in it.
    if (status === 404) this.#ended = 'it does not know the session any more';
    if (thrown instanceof TypeError || code === 'SEND_FAILED' || status !== undefined)
      return new TransientError(text);
    return new WebFailure('bad-response', this.hide(messageOf(thrown)));
  }

  async close(): Promise<void> {
    this.#ended ??= 'it was closed';
    await this.end(this.client);
  }
}

/** Of an answer over HTTP that is not a message of the protocol. */
const statusOf = (thrown: unknown): number | undefined => {
  const { status } = thrown as { status?: unknown };
  return typeof status === 'number' ? status : undefined;
};

const isRefusal = (thrown: unknown): boolean => [401, 403].includes(statusOf(thrown) ?? 0);
