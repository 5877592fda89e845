import type {
  FoundTool,
  Tool,
  ToolContext,
  ToolHost,
  ToolResult,
} from '../../core/plugins/tool.ts';
import { tool } from '../../core/plugins/tool.ts';
import { toolName } from '../../core/wire/tool-name.ts';
import { abortable } from '../../core/stopping/abort.ts';
import { Type } from '../../core/typebox.ts';
import { WebFailure } from '../../search/web/index.ts';
import { callName, failed, graceS } from '../web-call.ts';
import { contentText } from '../../core/wire/content-text.ts';
import { McpConnection } from './mcp-connection.ts';
import { cassetteOf, McpPool } from './mcp-pool.ts';
import { checkMcp, isolationOf, McpSettings } from './settings.ts';

/** What a server answered, as it is recorded. */
interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly unread: Readonly<Record<string, number>>;
}

/** A server may answer others who ask the same: one of them must not end its call. */
const { signal: unending } = new AbortController();

/** The tools of an MCP server. */
@tool({
  name: 'mcp',
  description: 'The tools of an MCP server, which a program or an address offers.',
  parameters: Type.Object({}, { additionalProperties: false }),
  settings: McpSettings,
  configure: (settings) => {
    checkMcp(settings as McpSettings);
    return { name: (settings as McpSettings).name };
  },
  find: (settings, host) => findTools(settings as McpSettings, host),
  open: async (settings, host) => new McpPool(settings as McpSettings, host),
})
export class McpTools implements Tool {
  #connection: Promise<McpConnection> | undefined;

  constructor(private readonly given: { shared: McpPool; settings: McpSettings }) {}

  async call(args: unknown, { of = '', signal, random }: ToolContext): Promise<ToolResult> {
    const { shared } = this.given;
    shared.count('calls');
    const live = (until: AbortSignal) => this.#answer(of, args as Record<string, unknown>, until);
    const call = callName(random);
    // A server that keeps something answers the same request differently.
    const place = shared.isolation === 'shared' ? {} : { call };
    const request = { tool: of, arguments: args, ...place };
    const { cassette } = shared;
    try {
      const answer = await (cassette === undefined
        ? live(signal)
        : abortable(
            cassette.answer({ request, call }, () => live(unending)),
            signal,
          ));
      const { text, isError, unread } = answer as Answer;
      shared.count('errors', Number(isError));
      shared.count(
        'unread',
        Object.values(unread).reduce((sum, one) => sum + one, 0),
      );
      return { content: text, isError, data: { unread } };
    } catch (thrown) {
      if (!(thrown instanceof WebFailure)) throw thrown;
      shared.count(thrown.kind);
      // The tool's own failure, whatever the model asked for. With its cause it would be retried.
      // oxlint-disable-next-line eslint/preserve-caught-error
      if (thrown.kind === 'network') throw new Error(thrown.message);
      return failed(thrown.message, { failure: thrown.kind });
    }
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    if (connection !== undefined) await this.given.shared.giveBack(connection);
  }

  async #answer(of: string, args: Record<string, unknown>, signal: AbortSignal): Promise<Answer> {
    const connection = await this.#connected();
    const { content, structuredContent, isError } = await connection.call(of, args, signal);
    const { text, unread } = contentText(content, structuredContent);
    return { text: connection.hide(text), isError: isError === true, unread };
  }

  /** The episode's; where it cannot be opened, the next call tries again. */
  async #connected(): Promise<McpConnection> {
    const { shared } = this.given;
    if (shared.isolation === 'shared') return shared.take();
    this.#connection ??= shared.take();
    try {
      return await this.#connection;
    } catch (thrown) {
      this.#connection = undefined;
      throw thrown;
    }
  }
}

/** The tools of a server that an agent may call, in the order of their names. @throws Error */
async function findTools(settings: McpSettings, host: ToolHost): Promise<readonly FoundTool[]> {
  const live = async () => {
    const connection = await McpConnection.open(settings, host);
    try {
      return { tools: await connection.tools() };
    } finally {
      await connection.close();
    }
  };
  const listing = { request: { tools: 'list' }, call: 'list' };
  const { tools } = (await (cassetteOf(settings)?.answer(listing, live) ?? live())) as Awaited<
    ReturnType<typeof live>
  >;
  const { name: server, allow, longestS, maxContentChars } = settings;
  const names = tools.map(({ name }) => name);
  const absent = allow?.find((name) => !names.includes(name));
  if (absent !== undefined)
    throw new Error(`${server} has no tool "${absent}" (allow). Tools: ${names.join(', ')}.`);
  const found = tools
    .filter(({ name }) => allow?.includes(name) ?? true)
    .filter(({ name, execution }) => {
      if (execution?.taskSupport !== 'required') return true;
      if (allow !== undefined)
        throw new Error(
          `the tool "${name}" of ${server} only runs as a task, which is not supported. Remove it from allow.`,
        );
      host.warn?.(`The tool "${name}" of ${server} is left out: it only runs as a task.`);
      return false;
    })
    .map(({ name, title, description, inputSchema, annotations }): FoundTool => {
      const { $schema: _, $id: __, ...parameters } = inputSchema as Record<string, unknown>;
      const { readOnlyHint = false, idempotentHint = false } = annotations ?? {};
      return {
        of: name,
        name: toolName(name),
        description: description ?? title ?? name,
        parameters,
        keepsState: isolationOf(settings) !== 'shared',
        deadlineS: longestS + graceS,
        maxContentChars,
        onInterrupt: readOnlyHint || idempotentHint ? 'repeat' : 'fail',
      };
    });
  if (found.length === 0) throw new Error(`${server} offers no tools.`);
  return found;
}
