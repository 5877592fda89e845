import type { AssistantMessage, Message } from '../../core/message.ts';
import type { Policy } from '../../core/plugins/policy.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Generation, Sampling } from '../../core/services/generator.ts';
import type { LanguageModel } from '../../../model/text/language-model.ts';
import type { BodyBounds } from '../../http/read-body.ts';
import { Refusal } from '../../http/refusal.ts';
import type { LongTexts } from './long-texts.ts';
import type { SteppedGenerator } from './stepped-generator.ts';

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
  /** Sampled ones, the token that ended the turn included. */
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

/** Is told the text of an answer so far. */
export type OnText = (text: string) => void;

/** What a served model is made of. */
export interface ServedParts {
  text: LanguageModel;
  vocabSize: number;
  maxContextTokens: number;
  policy: Policy;
  generator: SteppedGenerator;
  /** What a text says as a turn: thought, content, calls. */
  read: (text: string, tools: readonly ToolSpec[]) => AssistantMessage;
  longTexts: LongTexts;
}

const taskId = 'served';

/** A model that answers: several requests share its batch, and none has a part in another's draws. */
export class ServedModel {
  #requests = 0;

  readonly text: LanguageModel;
  readonly vocabSize: number;
  readonly maxContextTokens: number;
  private readonly policy: Policy;
  private readonly generator: SteppedGenerator;
  readonly read: ServedParts['read'];
  private readonly longTexts: LongTexts;

  constructor(parts: ServedParts) {
    this.text = parts.text;
    this.vocabSize = parts.vocabSize;
    this.maxContextTokens = parts.maxContextTokens;
    this.policy = parts.policy;
    this.generator = parts.generator;
    this.read = parts.read;
    this.longTexts = parts.longTexts;
  }

  /**
   * One turn of the assistant in a conversation.
   *
   * @param index of several answers to one request
   * @throws Refusal when the conversation leaves no room for an answer
   */
  async turn(
    conversation: { messages: readonly Message[]; tools: readonly ToolSpec[] },
    request: SamplingRequest,
    { index, onText }: { index: number; onText?: OnText },
  ): Promise<Turn> {
    const transcript = await this.longTexts.whole(
      () => this.policy.begin(conversation.messages, conversation.tools),
      request.signal,
    );
    const promptTokens = [...transcript.tokens];
    const room = this.#room(promptTokens.length, request.maxTokens);
    const episode = this.#nextEpisode();
    const watch = this.#watch(request.stop, onText);
    this.generator.listen(episode, watch.listener);
    try {
      const { message, stop } = await this.policy.act(transcript, {
        episode,
        sampling: request.sampling,
        maxTokens: room,
        key: { seed: request.seed, taskId, sample: index, turn: 0 },
        signal: request.signal,
      });
      request.signal.throwIfAborted();
      const tokens = transcript.tokens.slice(promptTokens.length);
      const logProbs = transcript.record().logProbs.slice(promptTokens.length);
      const ended = stop === 'end-of-turn' || watch.stoppedAt() !== undefined;
      const text = this.#textOf(tokens, stop === 'end-of-turn', watch.stoppedAt());
      const said = watch.stoppedAt() === undefined ? message : this.read(text, conversation.tools);
      const read = conversation.tools.length === 0 ? withoutCalls(said, text) : said;
      return {
        promptTokens,
        tokens,
        logProbs,
        text,
        message: read,
        finish: ended ? 'stop' : 'length',
      };
    } finally {
      this.policy.release(episode);
    }
  }

  /**
   * Continues tokens as they are.
   *
   * @param stopTokens the answer ends after one of them
   * @throws Refusal when they leave no room
   */
  async complete(
    promptTokens: readonly number[],
    request: SamplingRequest,
    {
      index,
      stopTokens,
      onText,
    }: { index: number; stopTokens: readonly number[]; onText?: OnText },
  ): Promise<Sampled> {
    const room = this.#room(promptTokens.length, request.maxTokens);
    const episode = this.#nextEpisode();
    const watch = this.#watch(request.stop, onText, stopTokens);
    this.generator.listen(episode, watch.listener);
    try {
      const generation: Generation = await this.generator.generate(
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
      const ended = stop === 'stop-token' || watch.stoppedAt() !== undefined;
      const text = this.#textOf(tokens, stop === 'stop-token', watch.stoppedAt());
      return { promptTokens, tokens, logProbs, text, finish: ended ? 'stop' : 'length' };
    } finally {
      this.generator.release(episode);
    }
  }

  /** Tokens of a text in which control tokens are meant. @throws Refusal for one that no context can hold */
  encode(text: string, signal: AbortSignal): Promise<readonly number[]> {
    this.refuseEndless([text]);
    return this.longTexts.whole(() => this.text.encodePiece({ source: 'template', text }), signal);
  }

  /**
   * Refuses, before they are rendered and encoded, texts that no context can hold: no token has more characters than the longest
   * one.
   *
   * @throws Refusal
   */
  refuseEndless(texts: readonly string[]): void {
    const { mostCharsOfToken } = this.text.tokenizer;
    const fewest = texts.reduce(
      (sum, text) => sum + Math.ceil(text.trim().length / mostCharsOfToken),
      0,
    );
    if (fewest >= this.maxContextTokens) throw this.#tooLong(`at least ${fewest}`, undefined);
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

  #nextEpisode(): string {
    this.#requests += 1;
    return `${taskId}/${this.#requests}`;
  }

  /** Tokens that an answer may have. @throws Refusal */
  #room(promptTokens: number, maxTokens: number | undefined): number {
    const most = this.maxContextTokens - promptTokens;
    if (most > 0 && (maxTokens ?? 0) <= most) return maxTokens ?? most;
    throw this.#tooLong(promptTokens, maxTokens);
  }

  #tooLong(promptTokens: number | string, maxTokens: number | undefined): Refusal {
    return new Refusal(
      400,
      `This server's contexts have up to ${this.maxContextTokens} tokens (its policy.maxContextTokens); the prompt has ${promptTokens}${maxTokens === undefined ? '' : ` and the answer may have ${maxTokens}`}. Shorten the prompt, or ask for fewer tokens.`,
      [{ path: [maxTokens === undefined ? 'messages' : 'max_tokens'], message: 'too long' }],
      'context_length_exceeded',
    );
  }

  #textOf(tokens: readonly number[], ended: boolean, stoppedAt: number | undefined): string {
    const text = this.text.tokenizer.decode(ended ? tokens.slice(0, -1) : tokens);
    return text.slice(0, stoppedAt);
  }

  /** Looks for stop texts in a turn that is being sampled. */
  #watch(stop: readonly string[], onText: OnText | undefined, stopTokens = this.text.stopTokens) {
    let found: number | undefined;
    const listener = (tokens: readonly number[]): boolean => {
      const last = tokens.at(-1) ?? -1;
      const ended = stopTokens.includes(last);
      const text = this.text.tokenizer.decode(ended ? tokens.slice(0, -1) : tokens);
      const places = stop.map((one) => text.indexOf(one)).filter((place) => place >= 0);
      for (const place of places) found = Math.min(found ?? place, place);
      onText?.(text.slice(0, found));
      return found !== undefined;
    };
    return { listener, stoppedAt: () => found };
  }
}

/** Who gave no tools is given no calls: what was written as one is text. */
function withoutCalls(message: AssistantMessage, text: string): AssistantMessage {
  const { toolCalls = [], malformedCalls = [] } = message;
  if (toolCalls.length + malformedCalls.length === 0) return message;
  const { reasoning } = message;
  const spoken = text.slice(text.lastIndexOf(thoughtEnd) + thoughtEnd.length);
  return {
    role: 'assistant',
    content: (text.includes(thoughtEnd) ? spoken : text).trim(),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/** Of `\\u00e9` in JSON. */
const bytesOfEscaped = 6;

const thoughtEnd = '</think>';
