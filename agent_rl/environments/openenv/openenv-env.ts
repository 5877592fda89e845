import { TransientError } from '../../core/failure.ts';
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
import { notTimed } from '../../core/stopping/work-clock.ts';
import type { Task } from '../../core/tasks/task.ts';
import { showValue } from '../../core/show-value.ts';
import { Value } from '../../core/typebox.ts';
import { contentText } from '../../core/wire/content-text.ts';
import { observationText } from './acting.ts';
import { OpenEnvServer } from './openenv-server.ts';
import { ActionRefused, type Observed, type OpenEnvSession } from './session.ts';
import { OpenEnvSettings } from './settings.ts';
import { type WireMessage, WireMessages } from './turn-schema.ts';

/** Of a server's state, what the record of an episode keeps. */
const mostStateChars = 10_000;

/** An episode of an environment that a server offers over OpenEnv's WebSocket. */
@environment({
  name: 'openenv',
  description: "An environment that a server offers in OpenEnv's protocol.",
  settings: OpenEnvSettings,
  taskFormat: 'episode',
  replays: 'never',
  elsewhere: true,
  find: async (settings, host) =>
    (await OpenEnvServer.open(settings as OpenEnvSettings, host)).acting.tools,
  open: (settings, host) => OpenEnvServer.open(settings as OpenEnvSettings, host),
})
export class OpenEnvEnv implements Environment, Tool {
  #session: OpenEnvSession | undefined;
  #last: Observed | undefined;
  /** What the server said of a lost session. */
  #lost: TransientError | undefined;
  #steps = 0;
  #rewards = 0;
  #reward = 0;

  constructor(
    private readonly given: { task: Task; settings: OpenEnvSettings; shared: OpenEnvServer },
  ) {}

  async start(signal: AbortSignal): Promise<readonly Message[]> {
    const { task, settings, shared } = this.given;
    const { reset, opening } = task.metadata;
    // What waits for a session costs the episode none of its time; every message has a deadline of its own.
    const { session, first } = await notTimed(() => shared.begin(reset as object, signal));
    this.#session = session;
    this.#last = first;
    const said = this.#isOfTurns ? messagesOf(first) : [user(this.#text(first))];
    const prompt = typeof opening === 'string' ? [user(opening)] : [];
    const messages = [...prompt, ...said].filter(({ content }) => content !== '');
    if (first.done) throw new Error('the server says that the episode is over when it is reset.');
    if (messages.length === 0)
      throw new Error('the server said nothing when it was reset. Give the task a prompt.');
    const { systemPrompt } = settings;
    return systemPrompt === undefined ? messages : [system(systemPrompt), ...messages];
  }

  async receive({ content, toolCalls, malformedCalls }: AssistantMessage, signal: AbortSignal) {
    if (!this.#isOfTurns) return;
    const calls = toolCalls?.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: call.arguments,
    }));
    const turn = { content, tool_calls: calls, malformed_calls: malformedCalls };
    await this.#act(turn, signal);
  }

  toolInputs({ id }: ToolCall): Readonly<Record<string, unknown>> {
    return { id };
  }

  async call(args: unknown, { of = '', inputs: { id }, signal }: ToolContext): Promise<ToolResult> {
    if (this.#isOfTurns) {
      const answer = messagesOf(this.#last).find((one) => one.call_id === id);
      if (answer === undefined)
        throw new Error(`the server did not answer the call ${String(id)}.`);
      return { content: answer.content, isError: answer.is_error === true };
    }
    if (this.#isOver) return { content: 'Error: the episode is over.', isError: true };
    const isListed = this.given.shared.acting.by === 'tools';
    const listed = { type: 'call_tool', tool_name: of, arguments: args };
    const { seen, refusal } = await this.#try(isListed ? listed : (args as object), signal);
    if (seen === undefined) return { content: refusal, isError: true };
    return isListed ? toolResult(seen) : { content: this.#text(seen) };
  }

  async step({ message, calls }: Turn, signal: AbortSignal): Promise<EnvironmentStep> {
    const { acting } = this.given.shared;
    if (this.#lost !== undefined) throw this.#lost;
    const isSilent = calls.length === 0 && (message.malformedCalls ?? []).length === 0;
    if (acting.by === 'text' && isSilent) {
      const { seen, refusal } = await this.#try({ [acting.field]: message.content }, signal);
      if (this.#lost !== undefined) throw this.#lost;
      return { done: this.#isOver, messages: [user(seen ? this.#text(seen) : refusal)] };
    }
    if (this.#isOfTurns) {
      const told = messagesOf(this.#last).filter(({ role }) => role === 'user');
      return { done: this.#isOver, messages: told.map(({ content }) => user(content)) };
    }
    return { done: this.#isOver || isSilent };
  }

  async finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    const { settings, shared } = this.given;
    const session = this.#session;
    if (session === undefined) return unjudged('aborted', {});
    try {
      if (end === 'aborted') return unjudged('aborted', {});
      if (this.#isOfTurns && !this.#isOver) await this.#act({ content: '', cut: true }, signal);
      const state = await session.state(signal);
      const isLong = JSON.stringify(state).length > mostStateChars;
      const record = { openenv: isLong ? { omitted: 'too long' } : state };
      if (this.#isOfTurns) return this.#judged(end, record);
      if (this.#isOver && this.#rewards === 0)
        throw new Error('the server ended the episode without a reward.');
      if (this.#steps > 0 && this.#rewards === 0) shared.unrewarded();
      const components = { environment: this.#reward };
      const metrics = { steps: this.#steps, rewards: this.#rewards };
      const { solvedAt } = settings;
      const success = this.#reward >= solvedAt;
      return verdict(end, { success, solvedAt, components, metrics, record });
    } finally {
      void shared.end(session);
    }
  }

  /** The verdict of a server that judges whole turns. How the episode ended is known here, if it was cut off here. */
  #judged(end: EpisodeEnd, record: Verdict['record']): Verdict {
    const judged = this.#last?.observation['verdict'];
    if (!isRecord(judged)) throw new Error('the server ended the episode without a verdict.');
    const whole = judged as unknown as Verdict;
    const { success } = whole;
    const { outcome } = end === 'done' ? whole : verdict(end, { success, components: {} });
    return { ...whole, outcome, reward: this.#reward, record };
  }

  get #isOfTurns(): boolean {
    return this.given.shared.acting.by === 'turns';
  }

  get #isOver(): boolean {
    return this.#last?.done === true;
  }

  /**
   * What came of an action. One that does not fit the server's schema is the model's mistake, which it reads. A lost session
   * ends the episode at its next step, since calling again would not bring it back.
   */
  async #try(action: object, signal: AbortSignal) {
    try {
      return { seen: await this.#act(action, signal), refusal: '' };
    } catch (thrown) {
      if (!(thrown instanceof ActionRefused || thrown instanceof TransientError)) throw thrown;
      if (thrown instanceof TransientError) this.#lost = thrown;
      return { refusal: `Error: ${thrown.message}` };
    }
  }

  async #act(action: object, signal: AbortSignal): Promise<Observed> {
    if (this.#session === undefined) throw new Error('the episode has not started.');
    this.#steps += 1;
    return this.#saw(await this.#session.observe('step', action, signal));
  }

  #saw(seen: Observed): Observed {
    this.#last = seen;
    this.#reward += seen.reward ?? 0;
    this.#rewards += Number(seen.reward !== undefined);
    return seen;
  }

  #text({ observation }: Observed): string {
    return observationText(observation, this.given.settings.show);
  }
}

/** The messages that the observation of a turn brings. */
function messagesOf(seen: Observed | undefined): readonly (WireMessage & Message)[] {
  const messages = seen?.observation['messages'];
  if (Value.Check(WireMessages, messages)) return messages as readonly (WireMessage & Message)[];
  throw new Error(
    `the server sent ${showValue(messages)}; expected messages of system, user or tool.`,
  );
}

/** What a tool of the server answered, as MCP writes it. */
function toolResult({ observation: { result, error } }: Observed): ToolResult {
  if (isRecord(error)) return { content: `Error: ${String(error['message'])}`, isError: true };
  const { content, structured_content: structured, is_error } = isRecord(result) ? result : {};
  if (Array.isArray(content))
    return { content: contentText(content, structured).text, isError: is_error === true };
  return { content: typeof result === 'string' ? result : JSON.stringify(result ?? null) };
}
