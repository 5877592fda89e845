import type { ToolMessage, UserMessage } from '../../core/message.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { underSignals } from '../../core/stopping/abort.ts';
import type { Transcript } from '../../core/transcript.ts';
import { requestAnswered } from '../../http/answer-request.ts';
import { Refusal } from '../../http/refusal.ts';
import type { OnText, SamplingRequest, ServedModel, Turn } from '../sampling/served-model.ts';
import {
  type AskedConversation,
  type AskedMessage,
  messageDigest,
  sha256,
  tokensDigest,
  toolsDigest,
  withIds,
} from './asked.ts';
import type { SessionRules } from './session-rules.ts';
import { EqualRequests } from './equal-requests.ts';
import { driftsOf, type Found, isTurn, type TurnNode, TurnTree } from './turn-tree.ts';

/** A request, told apart from others by its body. */
export interface SessionRequest {
  conversation: AskedConversation;
  request: SamplingRequest;
  body: string;
  retried: boolean;
  answers: number;
}

export interface SessionTurn extends Turn {
  node: TurnNode;
}

/** Turns that are sampled once they are asked for, or that were sampled for an earlier request. */
export interface Prepared {
  id: string;
  promptTokens: () => readonly number[];
  sample: (onText?: OnText) => Promise<readonly SessionTurn[]>;
  /** To be called when the answer has been sent whole. */
  sent: () => void;
}

interface Asked {
  id: string;
  transcript: Transcript;
  room: number;
  /** Whether the client's own limit leaves fewer tokens than the run's. */
  limited: boolean;
  node: Pick<TurnNode, 'parent' | 'depth' | 'asked' | 'askedAt' | 'given' | 'tools' | 'free'>;
  draw: number;
}

interface Answered {
  turns: Promise<readonly SessionTurn[]>;
  sent: boolean;
  /** Of the request that it was sampled for. */
  signal: AbortSignal;
}

/** Whether the client went before it had the answer. The same request while it waits is another one. */
const isLost = ({ sent, signal }: Answered): boolean =>
  !sent && signal.aborted && signal.reason !== requestAnswered;

/** The requests of one rollout, or of all clients of a server: which turn each continues, and what was sampled for it. */
export class Session {
  readonly tree = new TurnTree();
  /** Requests that hold turns of the model and continue none, by what the first of these differs in. */
  readonly anew = { history: 0, tools: 0 };
  readonly ignored: Record<string, number> = {};
  /** Requests for the model, whatever came of them. */
  asked = 0;
  replayed = 0;
  /** Tokens that were sampled for no turn of the tree. */
  lostTokens = 0;
  /** Which limit of the run was the first to refuse a request. */
  refused: 'token-limit' | 'turn-limit' | undefined;
  failure: unknown;
  readonly #equal = new EqualRequests();
  readonly #answers = new Map<string, Answered>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #contexts = new Set<string>();
  readonly #over = new AbortController();
  #kept = 0;

  constructor(
    readonly model: ServedModel,
    readonly rules: SessionRules,
  ) {}

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  ignore(field: string): void {
    this.ignored[field] = (this.ignored[field] ?? 0) + 1;
    this.rules.onIgnored?.(field);
  }

  /** @throws Refusal */
  async prepare(asked: SessionRequest): Promise<Prepared> {
    this.asked += 1;
    if (this.isOver) throw over(401);
    const { owners, secret } = this.rules;
    const mixed = owners?.mixed(asked.conversation.messages, secret);
    if (mixed !== undefined) throw (this.failure = mixed);
    const known = this.#answers.get(asked.body);
    const again = known !== undefined && (asked.retried || isLost(known));
    const recorded = again ? await this.#again(known) : undefined;
    if (recorded !== undefined) return recorded;
    const { request, conversation, answers } = asked;
    const all: Asked[] = [];
    try {
      for (let index = 0; index < answers; index++)
        all.push(await this.#ask(conversation, request));
    } catch (thrown) {
      for (const { node } of all) node.free();
      throw thrown;
    }
    const [first] = all as [Asked];
    const { length } = first.transcript;
    const { signal } = request;
    const answered: Answered = { turns: Promise.resolve([]), sent: false, signal };
    return {
      id: first.id,
      promptTokens: () => first.transcript.tokens.slice(0, length),
      sample: (onText) => {
        const turns = all.map((one, index) => this.#turn(one, index, asked, onText));
        answered.turns = Promise.all(turns);
        this.#answers.set(asked.body, answered);
        const [oldest] = this.#answers.keys();
        if (this.#answers.size > mostAnswers && oldest !== undefined) this.#answers.delete(oldest);
        answered.turns.catch(() => {
          if (this.#answers.get(asked.body) === answered) this.#answers.delete(asked.body);
        });
        return answered.turns;
      },
      sent: () => hasSent(answered),
    };
  }

  /** Ends it: what is under way is given up, and what comes later is refused. */
  async end(): Promise<void> {
    this.#over.abort(over(400));
    await Promise.allSettled(this.#running);
    for (const context of this.#contexts) this.model.release(context);
    this.#contexts.clear();
  }

  /** The recorded answer, also of a request that is under way; none of one that fails, such as with its own client. */
  async #again(known: Answered): Promise<Prepared | undefined> {
    const turns = await known.turns.catch(() => undefined);
    const first = turns?.[0];
    if (turns === undefined || first === undefined) return undefined;
    this.replayed += 1;
    return {
      id: first.node.id,
      promptTokens: () => first.promptTokens,
      sample: async () => turns,
      sent: () => hasSent(known),
    };
  }

  async #ask(
    { messages: given, tools }: AskedConversation,
    request: SamplingRequest,
  ): Promise<Asked> {
    const askedAt = performance.now();
    const messages = given.map((one) => redacted(one, this.rules.redact));
    const digest = toolsDigest(tools);
    const found = this.tree.find(messages, digest);
    const { transcript, parent } = await this.#transcript(messages, tools, found, request);
    const { maxTurns, secret } = this.rules;
    const isSpent = this.tree.nodes.length >= mostSequences * maxTurns;
    if (parent?.depth === maxTurns - 1 || isSpent) {
      this.refused ??= 'turn-limit';
      const problem = isSpent
        ? `This rollout has reached its limit of ${mostSequences * maxTurns} turns, ${mostSequences} times rollout.maxTurns.`
        : `This conversation has reached its limit of ${maxTurns} turns (rollout.maxTurns).`;
      throw new Refusal(400, problem, [], 'turn_limit');
    }
    for (const { node, as } of found.own) {
      node.delivered = true;
      for (const drift of driftsOf(as, node)) node.drifts.add(drift);
    }
    // Of `history: sent`, one that continues a turn may begin anew only for what was counted of that turn.
    if (found.parent === undefined || saidAfterTurn(found.rest) === undefined) {
      const [first] = messages.flatMap(
        (one) => this.tree.nodes.find((node) => isTurn(one, node)) ?? [],
      );
      if (first !== undefined) this.anew[first.tools === digest ? 'history' : 'tools'] += 1;
    }
    const { room, limited } = this.#room(transcript.length, request.maxTokens);
    const rest = parent === undefined ? messages : found.rest;
    const tokens = tokensDigest(transcript.tokens);
    const { count, free } = this.#equal.take(tokens);
    return {
      id: sha256(JSON.stringify([secret, tokens, count])).slice(0, idChars),
      transcript,
      room,
      limited,
      node: {
        parent,
        depth: parent === undefined ? 0 : parent.depth + 1,
        asked: rest.map(messageDigest),
        given: rest,
        tools: digest,
        askedAt,
        free,
      },
      draw: Number.parseInt(sha256(`${tokens} ${count}`).slice(0, drawChars), 16),
    };
  }

  /** The tokens of a request, and the turn that they continue. */
  async #transcript(
    messages: readonly AskedMessage[],
    tools: readonly ToolSpec[],
    { parent, rest }: Found,
    { signal }: SamplingRequest,
  ): Promise<{ transcript: Transcript; parent: TurnNode | undefined }> {
    const said = saidAfterTurn(rest);
    if (this.rules.history === 'sampled' && parent !== undefined && said !== undefined)
      return { transcript: await this.model.continued(parent, said, signal), parent };
    const whole = messages.map(({ message }) => message);
    const transcript = await this.model.begun(whole, tools, signal);
    if (parent === undefined || said === undefined) return { transcript, parent: undefined };
    // What the client sent back may be what was sampled, token for token.
    const joined = transcript.continuing(parent.transcript, parent.end);
    return { transcript: joined ?? transcript, parent: joined && parent };
  }

  #room(promptTokens: number, maxTokens = Infinity): Pick<Asked, 'room' | 'limited'> {
    const { sampling, maxTurnTokens } = this.rules;
    const asked = Number.isFinite(maxTokens) ? maxTokens : undefined;
    if (sampling === undefined)
      return { room: this.model.room({ promptTokens, field: 'messages' }, asked), limited: true };
    const most = Math.min(this.model.maxContextTokens - promptTokens, maxTurnTokens);
    if (most > 0) return { room: Math.min(most, maxTokens), limited: maxTokens < most };
    this.refused ??= 'token-limit';
    throw this.model.tooLong({ promptTokens, field: 'messages' }, undefined);
  }

  /** @param index of several answers to a request */
  async #turn(
    asked: Asked,
    index: number,
    { conversation: { tools }, request }: SessionRequest,
    onText: OnText | undefined,
  ): Promise<SessionTurn> {
    const { rules, model } = this;
    const { transcript, room, draw } = asked;
    const { length: start } = transcript;
    const context = this.#context(asked.node.parent);
    const work = underSignals([request.signal, this.#over.signal], (signal) =>
      rules.attempt(() =>
        model.turn({
          transcript,
          tools,
          room,
          sampling: rules.sampling ?? request.sampling,
          stop: request.stop,
          key: rules.keyOf(request, index, draw),
          version: rules.version,
          context,
          signal,
          onText: rules.live ? onText : undefined,
        }),
      ),
    );
    this.#running.add(work);
    try {
      const turn = await work;
      const message = withIds(turn.message, asked.id);
      const node = this.#add(asked, { ...turn, message }, { start, context });
      return { ...turn, message, node };
    } catch (thrown) {
      asked.node.free();
      this.#release(context);
      this.lostTokens += transcript.length - start;
      const isOurs = !(thrown instanceof Refusal) && !request.signal.aborted && !this.isOver;
      if (isOurs) this.failure ??= thrown;
      throw this.isOver ? over(400) : thrown;
    } finally {
      this.#running.delete(work);
    }
  }

  #add(
    { transcript, node, id, limited }: Asked,
    { message, tokens, finish }: Turn,
    { start, context }: { start: number; context: string },
  ): TurnNode {
    const end = start + tokens.length;
    const cut = transcript.length - end;
    this.lostTokens += cut;
    const added: TurnNode = {
      ...node,
      id,
      message,
      transcript: transcript.beginning(end, this.tree.nodes.length),
      start,
      end,
      context: cut === 0 && !this.rules.live ? context : undefined,
      endedAt: performance.now(),
      delivered: false,
      drifts: new Set(),
      cut: finish === 'length' && !limited,
      children: [],
    };
    if (added.context === undefined) this.#release(context);
    // One transcript for all turns of a path.
    for (let one = node.parent; one !== undefined; one = one.parent)
      one.transcript = added.transcript;
    this.tree.add(added);
    this.rules.owners?.add(id, this.rules.secret);
    this.#kept += end - (node.parent?.end ?? 0);
    while (this.#kept > this.rules.mostTokens) {
      const oldest = this.tree.forgetOldest();
      oldest?.free();
      this.#kept -= (oldest?.end ?? 0) - (oldest?.parent?.end ?? 0);
    }
    return added;
  }

  /** What the generator keeps a turn's context under: that of the turn that it continues, if no other has taken it. */
  #context(parent: TurnNode | undefined): string {
    const context = parent?.context ?? this.model.nextContext();
    if (parent !== undefined) parent.context = undefined;
    this.#contexts.add(context);
    return context;
  }

  #release(context: string): void {
    if (this.#contexts.delete(context)) this.model.release(context);
  }
}

/** What a rollout may have, in sequences of the longest kind: an agent that asks without end comes to one. */
const mostSequences = 64;
const [idChars, drawChars] = [20, 12];
/** That are remembered for those who ask again. */
const mostAnswers = 128;

/** 400 for what was under way, since clients ask again after other statuses. */
export const over = (status: 400 | 401): Refusal =>
  new Refusal(
    status,
    'This key does not belong to a running rollout. If your agent is still running, a queue or a pool that rollouts share sent the request with the key of another rollout. Use context.fetch in such code.',
    [],
    'rollout_over',
  );

function hasSent(answered: Answered): void {
  answered.sent = true;
  answered.turns.then(delivered, () => undefined);
}

function delivered(turns: readonly SessionTurn[]): void {
  for (const { node } of turns) node.delivered = true;
}

/** What follows a turn, where it can be shown behind it: what tools and users say. */
function saidAfterTurn(
  rest: readonly AskedMessage[],
): readonly (ToolMessage | UserMessage)[] | undefined {
  const said = rest.map(({ message }) => message);
  return said.every((message) => message.role === 'tool' || message.role === 'user')
    ? said
    : undefined;
}

const redacted = (asked: AskedMessage, redact: (text: string) => string): AskedMessage =>
  asked.message.role === 'assistant'
    ? asked
    : { ...asked, message: { ...asked.message, content: redact(asked.message.content) } };
