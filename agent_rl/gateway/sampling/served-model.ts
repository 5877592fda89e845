import { Remembered } from '../../core/collections/remembered.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../../core/message.ts';
import type { Policy } from '../../core/plugins/policy.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Generation, RandomKey, Sampling } from '../../core/services/generator.ts';
import type { Transcript } from '../../core/transcript.ts';
import type { LanguageModel } from '../../../model/text/language-model.ts';
import type { BodyBounds } from '../../http/read-body.ts';
import { type Refusal, wrongField } from '../../http/refusal.ts';
import type { LongTexts } from './long-texts.ts';
import type { SteppedGenerator } from './stepped-generator.ts';
import { type TurnReader, withoutPartial } from './turn-reader.ts';

/** How an answer is sampled. */
export interface SamplingRequest {
  sampling: Sampling;
  /** Most tokens; the rest of the context when absent. */
  maxTokens: number | undefined;
  /** Keys the draws: the same seed, index, context and weights give the same tokens. */
  seed: number;
  /** Texts that end the answer, which does not hold them. */
  stop: readonly string[];
  signal: AbortSignal;
}

/** Tokens in, tokens out. */
export interface Sampled {
  promptTokens: readonly number[];
  /** Sampled tokens, including the one that ended the turn, without a stop text. */
  tokens: readonly number[];
  /** Of each of them, in nats. */
  logProbs: readonly number[];
  /** Without the token that ended it, and without a stop text and what follows it. */
  text: string;
  finish: 'stop' | 'length';
}

export interface Turn extends Sampled {
  message: AssistantMessage;
}

/** A turn that is to be sampled. */
export interface TurnRequest extends Pick<SamplingRequest, 'sampling' | 'stop' | 'signal'> {
  /** Ends where the turn begins; grows by it. */
  transcript: Transcript;
  tools: readonly ToolSpec[];
  /** Tokens that the answer may have. */
  room: number;
  key: RandomKey;
  version?: number | undefined;
  /** What the generator keeps the context under. */
  context: string;
  /** Receives the text so far; without it, or a stop text, the turn is sampled in one go. */
  onText?: OnText | undefined;
}

/** Receives the text of an answer so far. */
export type OnText = (text: string) => void;

/** The parts of a served model. */
export interface ServedParts {
  text: LanguageModel;
  vocabSize: number;
  maxContextTokens: number;
  policy: Policy;
  generator: SteppedGenerator;
  reader: TurnReader;
  /** Encodes long texts beside the turns of others; without it they are encoded at once. */
  longTexts?: LongTexts | undefined;
}

const taskId = 'served';

/** A model that answers: several requests share its batch, and none has a part in another's draws. */
export class ServedModel {
  #requests = 0;
  /** Lists of tools that requests gave, by their text. */
  readonly tools = new Remembered<readonly ToolSpec[]>(mostTools);

  constructor(private readonly parts: ServedParts) {}

  get text(): LanguageModel {
    return this.parts.text;
  }

  get vocabSize(): number {
    return this.parts.vocabSize;
  }

  get maxContextTokens(): number {
    return this.parts.maxContextTokens;
  }

  get reader(): TurnReader {
    return this.parts.reader;
  }

  /** A conversation as the model reads it. @throws Refusal when its template refuses it */
  begun(
    messages: readonly Message[],
    tools: readonly ToolSpec[],
    signal: AbortSignal,
  ): Promise<Transcript> {
    return this.#written(() => this.parts.policy.begin(messages, tools), signal);
  }

  /** A transcript, and what was said after its last turn. @throws Refusal */
  continued(
    { transcript, end }: { transcript: Transcript; end: number },
    messages: readonly (ToolMessage | UserMessage)[],
    signal: AbortSignal,
  ): Promise<Transcript> {
    return this.#written(() => {
      const next = transcript.beginning(end);
      this.parts.policy.observe(next, messages);
      return next;
    }, signal);
  }

  /** Tokens that an answer may have. @throws Refusal */
  room(
    { promptTokens, field }: { promptTokens: number; field: 'messages' | 'prompt' },
    maxTokens: number | undefined,
  ): number {
    const most = this.maxContextTokens - promptTokens;
    if (most > 0 && (maxTokens ?? 0) <= most) return maxTokens ?? most;
    throw this.tooLong({ promptTokens, field }, maxTokens);
  }

  /** One turn of the assistant. */
  async turn({ transcript, tools, room, context, ...request }: TurnRequest): Promise<Turn> {
    const { length } = transcript;
    const watch = this.#watch(request.stop, request.onText);
    const listens = request.onText !== undefined || request.stop.length > 0;
    if (listens) this.parts.generator.listen(context, watch.listener);
    const { sampling, key, version, signal } = request;
    const options = { episode: context, sampling, maxTokens: room, key, version, signal };
    const { message, stop } = await this.parts.policy.act(transcript, options);
    signal.throwIfAborted();
    if (stop === 'aborted') throw new Error('The generator aborted a turn that was not cancelled.');
    const record = transcript.record();
    const sampled = this.#sampled({
      promptTokens: record.tokens.slice(0, length),
      tokens: record.tokens.slice(length),
      logProbs: record.logProbs.slice(length),
      ended: stop === 'end-of-turn',
      stoppedAt: watch.stoppedAt(),
    });
    const whole = tools.length > 0 && watch.stoppedAt() === undefined;
    return { ...sampled, message: whole ? message : this.reader.read(sampled.text, tools) };
  }

  /** Forgets what the generator kept of a context. */
  release(context: string): void {
    this.parts.policy.release(context);
  }

  /**
   * Continues tokens as they are.
   *
   * @param stopTokens the answer ends after one of them
   */
  async complete(
    promptTokens: readonly number[],
    request: SamplingRequest,
    {
      index,
      room,
      stopTokens,
      onText,
    }: { index: number; room: number; stopTokens: readonly number[]; onText?: OnText },
  ): Promise<Sampled> {
    const episode = this.nextContext();
    const watch = this.#watch(request.stop, onText);
    this.parts.generator.listen(episode, watch.listener);
    try {
      const generation: Generation = await this.parts.generator.generate(
        {
          episode,
          tokens: promptTokens,
          maxTokens: room,
          stopTokens,
          sampling: request.sampling,
          key: { seed: request.seed, taskId, sample: index, turn: 0 },
        },
        request.signal,
      );
      request.signal.throwIfAborted();
      const { tokens, logProbs, stop } = generation;
      const ended = stop === 'stop-token';
      const stoppedAt = watch.stoppedAt();
      return this.#sampled({ promptTokens, tokens, logProbs, ended, stoppedAt });
    } finally {
      this.parts.generator.release(episode);
    }
  }

  async #written(write: () => Transcript, signal: AbortSignal): Promise<Transcript> {
    const { longTexts } = this.parts;
    try {
      return await (longTexts === undefined ? write() : longTexts.whole(write, signal));
    } catch (thrown) {
      if (!AgentRlError.is(thrown)) throw thrown;
      throw wrongField('messages', 'refused by the template', messageOf(thrown));
    }
  }

  /** Tokens of a text in which control tokens are meant. @throws Refusal for one that no context can hold */
  encode(text: string, signal: AbortSignal): Promise<readonly number[]> {
    this.refuseEndless([text], 'prompt');
    const encode = () => this.text.encodeText(text);
    return this.parts.longTexts?.whole(encode, signal) ?? Promise.resolve(encode());
  }

  /**
   * Refuses, before they are rendered and encoded, texts that no context can hold: no token has more characters than the longest
   * one, and what is empty still has the template's tokens around it.
   *
   * @throws Refusal
   */
  refuseEndless(texts: readonly string[], field: 'messages' | 'prompt' = 'messages'): void {
    const { mostCharsOfToken } = this.text.tokenizer;
    const fewest = texts.reduce(
      (sum, text) => sum + Math.max(1, Math.ceil(text.trim().length / mostCharsOfToken)),
      0,
    );
    if (fewest >= this.maxContextTokens)
      throw this.tooLong({ promptTokens: `at least ${fewest}`, field }, undefined);
  }

  /** What a request may have: as much as a context, each of its characters escaped, and what is not in the prompt. */
  get bodyBounds(): BodyBounds {
    const { mostCharsOfToken } = this.text.tokenizer;
    const context = this.maxContextTokens;
    return {
      bytes: Math.min(64 * 2 ** 20, 2 ** 20 + bytesOfEscaped * mostCharsOfToken * context),
      values: 2 ** 14 + 2 * context,
    };
  }

  /** A name that no other context has. */
  nextContext(): string {
    this.#requests += 1;
    return `${taskId}/${this.#requests}`;
  }

  /** What was sampled, up to a stop text. A token in which that begins is left out where it is not needed for the text. */
  #sampled({
    promptTokens,
    tokens,
    logProbs,
    ended,
    stoppedAt,
  }: Pick<Sampled, 'promptTokens' | 'tokens' | 'logProbs'> & {
    ended: boolean;
    stoppedAt: number | undefined;
  }): Sampled {
    const { tokenizer } = this.text;
    const whole = this.#textOf(tokens, ended);
    if (stoppedAt === undefined)
      return { promptTokens, tokens, logProbs, text: whole, finish: ended ? 'stop' : 'length' };
    const text = whole.slice(0, stoppedAt);
    let kept = tokens.length;
    while (kept > 0 && tokenizer.decode(tokens.slice(0, kept - 1)).startsWith(text)) kept -= 1;
    return {
      promptTokens,
      tokens: tokens.slice(0, kept),
      logProbs: logProbs.slice(0, kept),
      text,
      finish: 'stop',
    };
  }

  /** The refusal of what no context can hold. */
  tooLong(
    { promptTokens, field }: { promptTokens: number | string; field: 'messages' | 'prompt' },
    maxTokens: number | undefined,
  ): Refusal {
    return wrongField(
      maxTokens === undefined ? field : 'max_tokens',
      'too long',
      `This server's context is limited to ${this.maxContextTokens} tokens (its policy.maxContextTokens), but the prompt has ${promptTokens}${maxTokens === undefined ? '' : ` and the answer may have ${maxTokens}`}. Shorten the prompt, or request fewer tokens.`,
      'context_length_exceeded',
    );
  }

  #textOf(tokens: readonly number[], ended: boolean): string {
    return this.text.tokenizer.decode(ended ? tokens.slice(0, -1) : tokens);
  }

  /** Looks for stop texts in a turn that is being sampled. */
  #watch(stop: readonly string[], onText: OnText | undefined) {
    let found: number | undefined;
    const listener = (tokens: readonly number[], ended: boolean): boolean => {
      const text = this.#textOf(tokens, ended);
      found ??= firstStop(text, stop);
      onText?.(found === undefined ? withoutPartial(text, stop) : text.slice(0, found));
      return found !== undefined;
    };
    return { listener, stoppedAt: () => found };
  }
}

/**
 * Where the stop text begins that is whole first, and of those that end together the longest: it does not depend on how many tokens
 * come at once.
 */
function firstStop(text: string, stop: readonly string[]): number | undefined {
  const [first] = stop
    .map((one) => ({ at: text.indexOf(one), length: one.length }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at + a.length - (b.at + b.length) || a.at - b.at);
  return first?.at;
}

const mostTools = 256;
/** Of `\\u00e9` in JSON. */
const bytesOfEscaped = 6;
