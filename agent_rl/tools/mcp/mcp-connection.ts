import type { Client, Tool as ListedTool } from '@modelcontextprotocol/client';

import { messageOf } from '../../core/errors.ts';
import { TransientError } from '../../core/failure.ts';
import { optionalPackage } from '../../core/wire/optional-package.ts';
import type { ToolHost } from '../../core/plugins/tool.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import type { McpSettings } from './settings.ts';

const sdk = () =>
  optionalPackage(
    async () => {
      const client = await import('@modelcontextprotocol/client');
      return { ...client, ...(await import('@modelcontextprotocol/client/stdio')) };
    },
    { user: 'A tool of type mcp', install: '@modelcontextprotocol/client@2' },
  );

/** Why a call has no answer. */
export type CallFailure = 'timeout' | 'ended' | 'too-long' | 'refused';

/** A call that the server did not answer. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';

  constructor(
    readonly kind: CallFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Of stderr, what a message shows. */
const shownStderr = 500;

/** A connection to an MCP server. */
export class McpConnection {
  /** Why it can be used no more. */
  #ended: string | undefined;
  #toolChanges = 0;

  private constructor(
    private readonly client: Client,
    private readonly settings: McpSettings,
  ) {
    // The client has no events but these.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onclose = () => {
      this.#ended ??= 'it closed the connection';
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onerror = ({ message }) => {
      if (/maximum size/.test(message)) this.#ended = 'its answer is longer than 10 MB';
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.#toolChanges += 1;
    });
  }

  /**
   * Connects to a server, which is started where it is a program.
   *
   * @throws AgentRlError `CONFIG_INVALID` without the package or a variable; TransientError when the server is not there
   */
  static async open(settings: McpSettings, { environment }: ToolHost): Promise<McpConnection> {
    const { Client: SdkClient, StdioClientTransport, StreamableHTTPClientTransport } = await sdk();
    const client = new SdkClient({ name: 'agent_rl', version: '1' });
    const { name, command, url, env, apiKeyEnv, connectS } = settings;
    let stderr = '';
    const user = `The MCP server ${name}`;
    const secret = (variable: string) => secretOf(variable, { user, environment });
    const transport = (() => {
      if (url !== undefined) {
        const headers =
          apiKeyEnv === undefined ? {} : { authorization: `Bearer ${secret(apiKeyEnv)}` };
        return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
      }
      const [program = '', ...args] = command ?? [];
      const own = Object.fromEntries(env.map((variable) => [variable, secret(variable)]));
      const started = new StdioClientTransport({
        command: program,
        args,
        env: own,
        stderr: 'pipe',
      });
      started.stderr?.on('data', (chunk: Buffer) => {
        stderr = (stderr + chunk.toString()).slice(-shownStderr);
      });
      return started;
    })();
    const connection = new McpConnection(client, settings);
    try {
      await client.connect(transport, { timeout: 1000 * connectS });
      return connection;
    } catch (thrown) {
      await client.close().catch(() => undefined);
      const said = stderr.trim() === '' ? '' : ` It wrote: ${stderr.trim()}`;
      throw new TransientError(
        `${user} (${url ?? command?.join(' ')}) cannot be used: ${messageOf(thrown)}.${said}`,
        { cause: thrown },
      );
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

  /** @throws McpFailure; TransientError where the server is not there; the signal's reason */
  async call(name: string, args: Record<string, unknown>, signal: AbortSignal) {
    const { deadlineS, longestS } = this.settings;
    if (this.#ended !== undefined)
      throw new McpFailure('ended', `its server is gone: ${this.#ended}`);
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
    const { deadlineS, longestS } = this.settings;
    if (this.#ended?.includes('longer') === true) return new McpFailure('too-long', this.#ended);
    if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED')
      return new McpFailure('ended', this.#ended ?? 'it closed the connection');
    if (code === 'REQUEST_TIMEOUT')
      return new McpFailure(
        'timeout',
        `no answer within ${deadlineS} s without progress, or ${longestS} s in all`,
      );
    if (thrown instanceof TypeError || code === 'SEND_FAILED')
      return new TransientError(`The MCP server ${this.settings.name} is not there.`, {
        cause: thrown,
      });
    return new McpFailure('refused', messageOf(thrown));
  }

  async close(): Promise<void> {
    this.#ended ??= 'it was closed';
    await this.client.close();
  }
}
