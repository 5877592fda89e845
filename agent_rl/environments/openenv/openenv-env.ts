import { isRecord } from '../../core/is-record.ts';
import {
  type AssistantMessage,
  type Message,
  system,
  type ToolCall,
  user,
} from '../../core/message.ts';
import {
  type Environment,
  environment,
  type EnvironmentStep,
  type EpisodeEnd,
  type Turn,
  type Verdict,
} from '../../core/plugins/environment.ts';
import type { Tool, ToolContext, ToolResult } from '../../core/plugins/tool.ts';
import { unjudged, verdict } from '../../core/plugins/verdict.ts';
import type { Task } from '../../core/tasks/task.ts';
import { contentText } from '../../tools/mcp/content-text.ts';
import { observationText } from './acting.ts';
import { OpenEnvServer } from './openenv-server.ts';
import { ActionRefused, type Observed, type OpenEnvSession } from './session.ts';
import { OpenEnvSettings } from './settings.ts';
import type { WireTurn } from './turn-schema.ts';

/** Of a server's state, what the record of an episode keeps. */
const mostStateChars = 10_000;

/** An episode of an environment that a server offers over OpenEnv's WebSocket. */
@environment({
  name: 'openenv',
  description: 'An environment that a server offers in the protocol of OpenEnv.',
  settings: OpenEnvSettings,
  taskFormat: 'episode',
  replays: 'never',
  find: async (settings, host) =>
    (await OpenEnvServer.open(settings as OpenEnvSettings, host)).acting.tools,
  open: async (settings, host) => OpenEnvServer.open(settings as OpenEnvSettings, host),
})
export class OpenEnvEnv implements Environment, Tool {
  readonly #task: Task;
  readonly #settings: OpenEnvSettings;
  readonly #server: OpenEnvServer;
  readonly #rewards: number[] = [];
  #session: OpenEnvSession | undefined;
  #last: Observed | undefined;

  constructor(given: { task: Task; settings: OpenEnvSettings; shared: OpenEnvServer }) {
    this.#task = given.task;
    this.#settings = given.settings;
    this.#server = given.shared;
  }

  async start(signal: AbortSignal): Promise<readonly Message[]> {
    const { reset, opening } = this.#task.metadata;
    const { session, first } = await this.#server.begin(reset as object, signal);
    this.#session = session;
    this.#saw(first);
    const { systemPrompt } = this.#settings;
    const prompted = [
      ...(systemPrompt === undefined ? [] : [system(systemPrompt)]),
      ...(typeof opening === 'string' ? [user(opening)] : []),
    ];
    if (this.#server.acting.by === 'turns') return [...prompted, ...messagesOf(first)];
    const text = this.#text(first);
    if (text === '' && typeof opening !== 'string')
      throw new Error('the server said nothing when it was reset. Give the task a prompt.');
    return text === '' ? prompted : [...prompted, user(text)];
  }

  async receive({ content, toolCalls, malformedCalls }: AssistantMessage, signal: AbortSignal) {
    if (this.#server.acting.by !== 'turns') return;
    const calls = toolCalls?.map(({ id, name, arguments: given }) => ({
      id,
      name,
      arguments: given,
    }));
    await this.#act(
      {
        content,
        ...(calls && { tool_calls: calls }),
        ...(malformedCalls && { malformed_calls: [...malformedCalls] }),
      } satisfies WireTurn,
      signal,
    );
  }

  toolInputs({ id }: ToolCall): Readonly<Record<string, unknown>> {
    return { id };
  }

  async call(args: unknown, { of = '', inputs, signal }: ToolContext): Promise<ToolResult> {
    const { acting } = this.#server;
    if (acting.by === 'turns') {
      const { id } = inputs;
      const answers = messagesOf(this.#last).filter(({ role }) => role === 'tool');
      const { content, is_error: isError } =
        (answers as { call_id?: string; content: string; is_error?: boolean }[]).find(
          ({ call_id }) => call_id === id,
        ) ?? {};
      if (content === undefined)
        throw new Error(`the server did not answer the call ${String(id)}.`);
      return { content, isError: isError === true };
    }
    if (this.#last?.done === true) return { content: 'Error: the episode is over.', isError: true };
    const action =
      acting.by === 'tools'
        ? { type: 'call_tool', tool_name: of, arguments: args }
        : (args as object);
    try {
      const seen = await this.#act(action, signal);
      return acting.by === 'tools' ? toolResult(seen) : { content: this.#text(seen) };
    } catch (thrown) {
      if (!(thrown instanceof ActionRefused)) throw thrown;
      return { content: `Error: ${thrown.message}`, isError: true };
    }
  }

  async step({ message, calls }: Turn, signal: AbortSignal): Promise<EnvironmentStep> {
    const { acting } = this.#server;
    if (acting.by === 'text') {
      try {
        const seen = await this.#act({ [acting.field]: message.content }, signal);
        return seen.done ? { done: true } : { done: false, messages: [user(this.#text(seen))] };
      } catch (thrown) {
        if (!(thrown instanceof ActionRefused)) throw thrown;
        return { done: false, messages: [user(`Error: ${thrown.message}`)] };
      }
    }
    if (this.#last?.done === true) return { done: true };
    if (acting.by === 'turns') {
      const told = messagesOf(this.#last).filter(({ role }) => role === 'user');
      return { done: false, messages: told.map(({ content }) => user(content)) };
    }
    return { done: calls.length === 0 && (message.malformedCalls ?? []).length === 0 };
  }

  async finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    const session = this.#session;
    if (session === undefined) return unjudged('aborted', {});
    try {
      if (end === 'aborted') return unjudged('aborted', {});
      // Whoever judges whole turns judges those that were cut off too.
      if (this.#server.acting.by === 'turns' && this.#last?.done !== true)
        await this.#act({ content: '', cut: true } satisfies WireTurn, signal);
      const state = await session.state(signal);
      const told = JSON.stringify(state).length > mostStateChars ? { omitted: 'too long' } : state;
      return this.#verdict(end, { openenv: told });
    } finally {
      this.#server.end(session);
    }
  }

  #verdict(end: EpisodeEnd, record: Verdict['record']): Verdict {
    const { solvedAt } = this.#settings;
    const judged = this.#last?.observation['verdict'];
    if (this.#server.acting.by === 'turns' && isRecord(judged)) {
      return { ...(judged as unknown as Verdict), reward: this.#last?.reward, record };
    }
    const total = this.#rewards.reduce((sum, one) => sum + one, 0);
    const components = { environment: total };
    const metrics = { steps: this.#rewards.length };
    return verdict(end, { success: total >= solvedAt, components, metrics, record });
  }

  async #act(action: object, signal: AbortSignal): Promise<Observed> {
    if (this.#session === undefined) throw new Error('the episode has not started.');
    try {
      return this.#saw(await this.#session.observe('step', action, signal));
    } catch (thrown) {
      if (thrown instanceof ActionRefused) this.#server.refused();
      throw thrown;
    }
  }

  #saw(seen: Observed): Observed {
    this.#last = seen;
    if (seen.reward !== undefined) this.#rewards.push(seen.reward);
    return seen;
  }

  #text({ observation }: Observed): string {
    return observationText(observation, this.#settings.show);
  }
}

/** The messages that the observation of a turn brings. */
const messagesOf = (seen: Observed | undefined): readonly Message[] =>
  (seen?.observation['messages'] ?? []) as Message[];

/** What a tool of the server answered, as MCP writes it. */
function toolResult({ observation }: Observed): ToolResult {
  const { result, error } = observation;
  if (isRecord(error)) return { content: `Error: ${String(error['message'])}`, isError: true };
  if (!isRecord(result))
    return { content: typeof result === 'string' ? result : JSON.stringify(result) };
  const { content, structured_content: structured, data, is_error: isError } = result;
  if (!Array.isArray(content)) return { content: JSON.stringify(data ?? result) };
  return { content: contentText(content, structured).text, isError: isError === true };
}
