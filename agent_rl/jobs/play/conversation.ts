import type { ExecutedCall, Turn } from '../../core/plugins/environment.ts';
import { AgentRlError } from '../../core/errors.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { keyOutsideRuns, type Rollout } from '../../core/rollout.ts';
import { runEpisode } from '../../rollout/run-episode.ts';
import type { EpisodeMaker, EpisodeRequest } from '../../rollout/episode-parts.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { chatTask } from './chat-task.ts';

export interface ConversationOptions {
  make: EpisodeMaker;
  /** What every conversation is sampled with; its task and key are the conversation's own. */
  request: Omit<EpisodeRequest, 'task' | 'key'>;
  /** The next line that the person types; `undefined` when there are no more. */
  ask: () => Promise<string | undefined>;
  print: (text: string) => void;
  signal: AbortSignal;
  /** Longest conversation, in tokens. */
  maxTokens: number;
}

const help =
  '/reset starts a new conversation, /exit (or the end of input) ends the chat, /help shows this. Everything else is sent to the agent.';

const indented = (text: string): string => text.replaceAll('\n', '\n      ');

const written = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function callText({ call, result, status }: ExecutedCall): string {
  const given = Object.entries(call.arguments).map(
    ([name, value]) => `    ${name}: ${indented(written(value))}`,
  );
  const label = status === 'ok' ? 'result' : status;
  return [`  calls ${call.name}`, ...given, `    ${label}: ${indented(result.content)}`].join('\n');
}

function turnText({ message, calls }: Pick<Turn, 'message' | 'calls'>): string {
  const unread = (message.malformedCalls ?? []).map(
    ({ text, problem }) => `  a malformed call (${problem}): ${indented(text)}`,
  );
  const parts = [message.content.trim(), ...calls.map(callText), ...unread];
  return visibleControls(parts.filter((part) => part !== '').join('\n'));
}

function endText({ outcome, problem, parts }: Rollout, maxTokens: number): string {
  const restart = 'The next message starts a new conversation.';
  if (outcome !== 'completed')
    return `The conversation ended (${outcome}): ${visibleControls(problem ?? '')} ${restart}`;
  const last = parts[0]?.messages.at(-1);
  const cut = last?.role === 'assistant' ? visibleControls(last.content.trim()) : '';
  return `${cut}\n(The conversation has reached the limit policy.maxContextTokens = ${maxTokens}. ${restart})`.trim();
}

class Person {
  /** What the person has ended since the last message. */
  ended: 'conversation' | 'chat' | undefined;
  /** Nothing was typed, not even a command. */
  isSilent = true;

  constructor(private readonly options: Pick<ConversationOptions, 'ask' | 'print'>) {}

  /** The next message; `undefined` when the conversation is over. */
  async next(): Promise<string | undefined> {
    this.ended = undefined;
    for (;;) {
      const line = (await this.options.ask())?.trim();
      if (line !== undefined) this.isSilent = false;
      if (line === undefined || line === '/exit' || line === '/quit') this.ended = 'chat';
      else if (line === '/reset') this.ended = 'conversation';
      else if (line === '/help') this.options.print(help);
      else if (line !== '') return line;
      if (this.ended !== undefined) return undefined;
    }
  }
}

/** Nothing but the conversation's own length ends it: a person decides, and takes time. */
const limitsOf = (maxTokens: number) => ({
  maxTurns: Number.MAX_SAFE_INTEGER,
  invalidCallLimit: Number.MAX_SAFE_INTEGER,
  maxEpisodeTokens: maxTokens,
  maxTurnTokens: maxTokens,
});

/**
 * Holds conversations until the person has nothing more to say. Each is one episode, so the agent remembers what was said
 * in it and what its tools gave.
 *
 * @throws AgentRlError `CONFIG_INVALID` when nothing is said at all
 */
export async function converse(options: ConversationOptions): Promise<Rollout[]> {
  const { make, request, print, signal, maxTokens } = options;
  const person = new Person(options);
  const held: Rollout[] = [];
  while (person.ended !== 'chat' && !signal.aborted) {
    const prompt = await person.next();
    if (prompt !== undefined) {
      const chat = {
        prompt,
        reply: () => person.next(),
        onTurn: (turn: Turn) => print(turnText(turn)),
        limits: limitsOf(maxTokens),
      };
      const task = { taskId: 'chat', prompt, metadata: {} };
      const asked = { ...request, task, key: keyOutsideRuns(held.length) };
      const rollout = await runEpisode(chatTask(make, chat), asked, signal);
      throwIfFailed(signal);
      held.push(rollout);
      if (person.ended === undefined && !signal.aborted) print(endText(rollout, maxTokens));
    }
    if (person.ended === 'conversation' && !signal.aborted) print('A new conversation.');
  }
  if (person.isSilent && !signal.aborted) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      'No message: standard input is empty. Run agent-rl chat in a terminal, pipe messages to standard input, one per line, or give one message with --prompt.',
    );
  }
  return held;
}
