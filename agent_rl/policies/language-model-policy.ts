import type { GenerationRequest, Generator } from '../core/generator.ts';
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../core/message.ts';
import type { ActOptions, Policy, PolicyTurn } from '../core/policy.ts';
import type { ToolSpec } from '../core/tool.ts';
import { Transcript } from '../core/transcript.ts';
import type { PromptPiece, RenderOptions, SaidMessage } from '../../model/chat-template.ts';
import type { LanguageModel } from '../../model/language-model.ts';
import { parseAssistantTurn } from '../../model/tool-call-format.ts';

export interface LanguageModelPolicySettings {
  /** The model may think before it speaks, where its template knows thoughts. */
  readonly thinking: boolean;
}

/**
 * A policy that is a language model behind a generator. Prompt and observations enter the transcript as the
 * chat template's fixed text around contents that cannot hold control tokens; sampled tokens enter as drawn.
 */
export class LanguageModelPolicy implements Policy {
  readonly #model: LanguageModel;
  readonly #generator: Generator;
  readonly #render: RenderOptions;
  /** The cue has already opened a thought, which the model only closes. */
  readonly #cueOpensThought: boolean;

  constructor(
    model: LanguageModel,
    generator: Generator,
    { thinking }: LanguageModelPolicySettings,
  ) {
    this.#model = model;
    this.#generator = generator;
    this.#render = { thinking };
    const cue = model.template.cue(this.#render);
    this.#cueOpensThought = cue.lastIndexOf('<think>') > cue.lastIndexOf('</think>');
  }

  /** Turns the assistant already had in the conversation are demonstrations. */
  begin(conversation: readonly Message[], tools: readonly ToolSpec[]): Transcript {
    const transcript = this.#replay(conversation, tools);
    if (conversation.at(-1)?.role === 'assistant') this.observe(transcript, []);
    return transcript;
  }

  /** A whole given conversation, for supervised training: it ends with the last turn, without another cue. */
  demonstrate(conversation: readonly Message[], tools: readonly ToolSpec[]): Transcript {
    return this.#replay(conversation, tools);
  }

  async act(transcript: Transcript, options: ActOptions): Promise<PolicyTurn> {
    const { episode, sampling, maxTokens, key, signal } = options;
    const { stopTokens, tokenizer } = this.#model;
    const request: GenerationRequest = {
      episode,
      tokens: [...transcript.tokens],
      maxTokens,
      stopTokens,
      sampling,
      key,
    };
    const { tokens, logProbs, stop, version } = await this.#generator.generate(request, signal);
    transcript.appendSampled(tokens, logProbs, version);
    const said = tokenizer.decode(stop === 'stop-token' ? tokens.slice(0, -1) : tokens);
    return {
      message: parseAssistantTurn(said, { turn: key.turn, inThought: this.#cueOpensThought }),
      sampledTokens: tokens.length,
      stop: stop === 'stop-token' ? 'end-of-turn' : stop,
    };
  }

  observe(transcript: Transcript, messages: readonly (ToolMessage | UserMessage)[]): void {
    this.#say(transcript, messages);
  }

  release(episode: string): void {
    this.#generator.release(episode);
  }

  #replay(conversation: readonly Message[], tools: readonly ToolSpec[]): Transcript {
    const transcript = new Transcript();
    const { opening, turns } = splitAtTurns(conversation);
    this.#append(transcript, this.#model.template.promptPieces(opening, tools, this.#render));
    for (const [index, { turn, said }] of turns.entries()) {
      if (index > 0) this.#say(transcript, turns[index - 1]?.said ?? []);
      transcript.append('demonstration', this.#model.encodeTurn(turn, this.#render));
      const last = index === turns.length - 1;
      if (last && said.length > 0) this.#say(transcript, said);
    }
    return transcript;
  }

  /** What follows a turn. A turn that was cut short is ended first, by the template and not by the policy. */
  #say(transcript: Transcript, messages: readonly SaidMessage[]): void {
    const { endOfTurn, endOfTurnId, template } = this.#model;
    if (transcript.tokens.at(-1) !== endOfTurnId) transcript.append('template', [endOfTurnId]);
    this.#append(transcript, template.deltaPieces(messages, endOfTurn, this.#render));
  }

  #append(transcript: Transcript, pieces: readonly PromptPiece[]): void {
    for (const piece of pieces) transcript.append(piece.source, this.#model.encodePiece(piece));
  }
}

interface Said {
  readonly turn: AssistantMessage;
  /** What others said after it. */
  readonly said: readonly SaidMessage[];
}

function splitAtTurns(conversation: readonly Message[]): {
  opening: readonly SaidMessage[];
  turns: readonly Said[];
} {
  const opening: SaidMessage[] = [];
  const turns: { turn: AssistantMessage; said: SaidMessage[] }[] = [];
  for (const message of conversation) {
    if (message.role === 'assistant') turns.push({ turn: message, said: [] });
    else (turns.at(-1)?.said ?? opening).push(message);
  }
  return { opening, turns };
}
