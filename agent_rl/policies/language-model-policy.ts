import { Type } from '../core/typebox.ts';
import type { Sampler } from '../core/services/generator.ts';
import type { AssistantMessage, Message } from '../core/message.ts';
import type { ActOptions, Policy, PolicyTurn } from '../core/plugins/policy.ts';
import type { ToolSpec } from '../core/plugins/tool.ts';
import type { ToolCallFormat } from '../core/plugins/tool-call-format.ts';
import { Transcript } from '../core/transcript.ts';
import {
  defaultTemplateDate,
  type PromptPiece,
  type RenderOptions,
  type SaidMessage,
} from '../../model/text/chat-template.ts';
import type { LanguageModel } from '../../model/text/language-model.ts';
import { examineTemplate } from './examine-template.ts';

export interface LanguageModelPolicySettings {
  /** The model may think before it answers, if its template supports thoughts. */
  thinking: boolean;
  /** YYYY-MM-DD, for templates that ask for today's date. */
  templateDate?: string;
}

/** The only constructor argument of a policy. */
export interface PolicyGiven<Settings = unknown> {
  readonly model: LanguageModel;
  readonly generator: Sampler;
  /** Its own block of the run file, checked, with its defaults. */
  readonly settings: Settings;
  /** How the model writes calls. Only for a policy whose spec says `needs: ['format']`. */
  readonly format: ToolCallFormat;
}

/** Settings of policies that are language models. */
export const languageModelPolicySettings = Type.Object({
  thinking: Type.Boolean({
    description: 'Whether the model thinks before it answers',
    default: false,
  }),
  templateDate: Type.String({
    pattern: '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])$',
    description: "Date (YYYY-MM-DD) for chat templates that show today's date",
    default: defaultTemplateDate,
  }),
});

/**
 * A policy that is a language model behind a generator. Prompt and observations enter the transcript as the
 * chat template's fixed text around contents that cannot hold control tokens; sampled tokens enter as drawn.
 */
export class LanguageModelPolicy implements Policy {
  readonly #model: LanguageModel;
  readonly #generator: Sampler;
  readonly #format: ToolCallFormat;
  readonly #render: RenderOptions;
  /** The template itself writes calls of given turns in the run's format. */
  readonly #templateWritesCalls: boolean;
  readonly #cueOpensThought: boolean;
  /** Tokens that end a turn: the template's own and further ones. */
  readonly #stopTokens: readonly number[];
  readonly #endsOfTurn: ReadonlySet<number>;
  /** By the root of a transcript. */
  readonly #tools = new WeakMap<object, Tools>();
  /** Notes for the user on how conversations become tokens, as sentences. */
  readonly notes: readonly string[];

  /** @throws AgentRlError `TOKENIZER_INVALID` when the model's template cannot be continued token by token. */
  constructor({ model, generator, settings, format }: PolicyGiven<LanguageModelPolicySettings>) {
    const { thinking, templateDate = defaultTemplateDate } = settings;
    this.#model = model;
    this.#generator = generator;
    this.#format = format;
    const asked = { thinking, date: templateDate };
    const { resultsAs, writesCalls, notes } = examineTemplate(model, format, asked);
    this.#render = { ...asked, resultsAs };
    this.#templateWritesCalls = writesCalls;
    this.notes = notes;
    this.#cueOpensThought = model.template.cueOpensThought(this.#render);
    const { tokenizer } = model;
    const ends = (format.endsOfTurn ?? []).filter((content) => tokenizer.hasControl(content));
    this.#endsOfTurn = new Set([model.endOfTurnId, ...ends.map((end) => tokenizer.idOf(end))]);
    this.#stopTokens = [...new Set([...model.stopTokens, ...this.#endsOfTurn])];
  }

  /** Turns the assistant already had in the conversation are demonstrations, in which no text is a control token. */
  begin(conversation: readonly Message[], tools: readonly ToolSpec[]): Transcript {
    const transcript = this.#begun(conversation, tools, (turn) => this.#model.given.hide(turn));
    if (conversation.at(-1)?.role === 'assistant') this.observe(transcript, []);
    return transcript;
  }

  /**
   * A whole given conversation, for supervised training: it ends with the last turn, without another cue. The content of
   * a turn is as the model writes it, and may hold thoughts and calls.
   */
  demonstrate(conversation: readonly Message[], tools: readonly ToolSpec[]): Transcript {
    const { given } = this.#model;
    return this.#begun(conversation, tools, ({ content, ...turn }) => ({
      ...given.hide(turn),
      content,
    }));
  }

  #begun(
    conversation: readonly Message[],
    tools: readonly ToolSpec[],
    hidden: (turn: AssistantMessage) => AssistantMessage,
  ): Transcript {
    const transcript = new Transcript();
    const shown = this.#model.given.hide(tools);
    this.#tools.set(transcript.root, { tools, shown });
    const { opening, turns } = splitAtTurns(conversation);
    const render = { ...this.#render, tools: shown };
    this.#append(transcript, this.#model.template.promptPieces(opening, shown, render));
    for (const [index, { turn, said }] of turns.entries()) {
      if (index > 0) this.observe(transcript, turns[index - 1]?.said ?? []);
      const written = this.#asWritten(hidden(turn), shown);
      transcript.append('demonstration', this.#model.encodeTurn(written, render));
      const last = index === turns.length - 1;
      if (last && said.length > 0) this.observe(transcript, said);
    }
    return transcript;
  }

  async act(transcript: Transcript, options: ActOptions): Promise<PolicyTurn> {
    const { episode, sampling, maxTokens, key, version: wanted, signal } = options;
    const { tokenizer } = this.#model;
    const stopTokens = this.#stopTokens;
    const { tools } = this.#toolsOf(transcript);
    const request = {
      episode,
      tokens: [...transcript.tokens],
      maxTokens,
      stopTokens,
      sampling,
      key,
      version: wanted,
    };
    const { tokens, logProbs, stop, version } = await this.#generator.generate(request, signal);
    transcript.appendSampled(tokens, logProbs, version);
    const said = stop === 'stop-token' ? tokens.slice(0, -1) : tokens;
    const text = tokenizer.decode(said);
    const inThought = this.#cueOpensThought;
    return {
      message: this.#format.read({ text, turn: key.turn, inThought, tools }),
      sampledTokens: tokens.length,
      stop: stop === 'stop-token' ? 'end-of-turn' : stop,
    };
  }

  /** What follows a turn. A turn that was cut short is ended first, by the template and not by the policy. */
  observe(transcript: Transcript, messages: readonly SaidMessage[]): void {
    const { endOfTurn, endOfTurnId, template } = this.#model;
    const last = transcript.tokens.at(-1);
    if (last === undefined || !this.#endsOfTurn.has(last)) {
      transcript.append('template', [endOfTurnId]);
    }
    const render = { ...this.#render, tools: this.#toolsOf(transcript).shown };
    this.#append(transcript, template.deltaPieces(messages, endOfTurn, render));
  }

  release(episode: string): void {
    this.#generator.release(episode);
  }

  /** A given turn with its calls in its text, unless the template writes them there itself. */
  #asWritten(turn: AssistantMessage, tools: readonly ToolSpec[]): AssistantMessage {
    const { toolCalls, ...spoken } = turn;
    if (toolCalls === undefined || this.#templateWritesCalls) return turn;
    const calls = toolCalls.map((call) => this.#format.print(call, tools));
    return { ...spoken, content: [turn.content, ...calls].filter(Boolean).join('\n') };
  }

  #toolsOf(transcript: Transcript): Tools {
    const tools = this.#tools.get(transcript.root);
    if (tools === undefined) throw new Error('Another policy started this transcript.');
    return tools;
  }

  #append(transcript: Transcript, pieces: readonly PromptPiece[]): void {
    for (const { source, tokens } of this.#model.encodePieces(pieces))
      transcript.append(source, tokens);
  }
}

interface Tools {
  /** What the model may call. */
  tools: readonly ToolSpec[];
  /** The same as the template is shown them. */
  shown: readonly ToolSpec[];
}

interface Said {
  turn: AssistantMessage;
  /** What others said after it. */
  said: SaidMessage[];
}

function splitAtTurns(conversation: readonly Message[]) {
  const opening: SaidMessage[] = [];
  const turns: Said[] = [];
  for (const message of conversation) {
    if (message.role === 'assistant') turns.push({ turn: message, said: [] });
    else (turns.at(-1)?.said ?? opening).push(message);
  }
  return { opening, turns };
}
