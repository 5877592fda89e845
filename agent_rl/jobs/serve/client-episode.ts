import { randomUUID } from 'node:crypto';

import type { AssistantMessage, Message } from '../../core/message.ts';
import type { ExecutedCall } from '../../core/plugins/environment.ts';
import type { Policy, PolicyTurn } from '../../core/plugins/policy.ts';
import { keyOutsideRuns, type Rollout } from '../../core/rollout.ts';
import { unbiased } from '../../core/services/generator.ts';
import { abortable } from '../../core/stopping/abort.ts';
import type { Task } from '../../core/tasks/task.ts';
import { Transcript } from '../../core/transcript.ts';
import type { WireTurn } from '../../environments/openenv/turn-schema.ts';
import type { EpisodeMaker, EpisodeParts } from '../../rollout/episode-parts.ts';
import { runEpisode } from '../../rollout/run-episode.ts';

/** An episode whose policy is a client: its turns come over the wire. */
export class ClientEpisode {
  turns = 0;
  readonly #stop = new AbortController();
  readonly #over: Promise<Rollout>;
  /** Resolves when it is the policy's turn, which `#take` then takes. */
  #asked!: Promise<void>;
  #ask!: () => void;
  #take: ((turn: PolicyTurn) => void) | undefined;
  #unread: readonly Message[] = [];
  /** Messages that the client has seen or written. */
  #known = 0;
  #calls: readonly ExecutedCall[] = [];

  constructor(
    readonly task: Task,
    private readonly host: {
      make: EpisodeMaker;
      seed: number;
      /** Receives what went wrong, which the client does not see. */
      onFailure: (problem: string) => void;
    },
  ) {
    const { make, seed } = host;
    this.#expect();
    // Each episode has a key of its own; what tools draw follows from seed and task.
    const key = { ...keyOutsideRuns(), run: randomUUID() };
    const request = { task, key, step: 0, seed, sampling: unbiased };
    const played: EpisodeMaker = async (one) => this.#played(await make(one));
    this.#over = runEpisode(played, request, this.#stop.signal);
    // Told with the next answer, if there is one.
    this.#over.catch(() => undefined);
  }

  /** Plays a turn. @throws Error of an episode that is over */
  take(turn: WireTurn): void {
    const take = this.#take;
    if (take === undefined) throw new Error('The episode is over. Reset the environment.');
    this.#take = undefined;
    this.#expect();
    const stop = turn.cut === true ? 'max-tokens' : 'end-of-turn';
    take({ message: messageOf(turn, this.turns), sampledTokens: 0, stop });
    this.turns += 1;
    this.#known += 1;
  }

  /** What the client sees next. @throws Error of an episode that failed */
  async told() {
    const over = await Promise.race([this.#asked, this.#over]);
    if (over === undefined)
      return { observation: { messages: this.#wire(this.#unread) }, reward: null, done: false };
    const [part] = over.parts;
    if (part?.reward === undefined) {
      this.host.onFailure(`An episode of ${this.task.taskId} failed: ${over.problem}`);
      throw new Error(`The episode failed (${over.outcome}).`);
    }
    const { reward, outcome, success, components, metrics, answer } = part;
    const messages = this.#wire(part.messages.slice(this.#known));
    const verdict = { outcome, success, components, metrics, answer };
    return { observation: { messages, verdict }, reward, done: true };
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('The client has left.'));
    await this.#over.catch(() => undefined);
  }

  #expect(): void {
    this.#asked = new Promise((resolve) => {
      this.#ask = resolve;
    });
  }

  #played(parts: EpisodeParts): EpisodeParts {
    const { world } = parts;
    const read = (messages: readonly Message[]): void => {
      this.#unread = messages;
      this.#known += messages.length;
    };
    const policy: Policy = {
      begin: (conversation) => {
        read(conversation);
        return new Transcript();
      },
      observe: (_, messages) => read(messages),
      act: (_, { signal }) => {
        const turn = new Promise<PolicyTurn>((take) => {
          this.#take = take;
        });
        this.#ask();
        return abortable(turn, signal);
      },
      release: () => undefined,
    };
    const step: typeof world.step = (turn, ...rest) => {
      this.#calls = turn.calls;
      return world.step(turn, ...rest);
    };
    // What an invalid call costs is the trainer's setting.
    return { ...parts, policy, world: { ...world, step }, invalidCallPenalty: 0 };
  }

  /** As chat APIs write messages; a tool's says whether the call failed. */
  #wire(messages: readonly Message[]): object[] {
    return messages.map((message) => {
      if (message.role !== 'tool') return { role: message.role, content: message.content };
      const { role, content, name, callId } = message;
      const call = this.#calls.find((one) => one.call.id === callId);
      return { role, content, name, call_id: callId, is_error: call?.status !== 'ok' };
    });
  }
}

/** Calls without an id, or with one that does not end in a number, are numbered in their order. */
function messageOf({ content, tool_calls, malformed_calls }: WireTurn, turn: number) {
  const numbered = <Call extends { id?: string }>(calls: readonly Call[], from: number) =>
    calls.map((call, index) => ({
      ...call,
      id: /_\d+$/.test(call.id ?? '') ? (call.id ?? '') : `call_${turn}_${from + index}`,
    }));
  const toolCalls = tool_calls && numbered(tool_calls, 0);
  const malformedCalls = malformed_calls && numbered(malformed_calls, toolCalls?.length ?? 0);
  const message: AssistantMessage = { role: 'assistant', content, toolCalls };
  return malformedCalls === undefined ? message : { ...message, malformedCalls };
}
