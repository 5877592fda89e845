import { existsSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { AssistantMessage } from '../../agent_rl/core/message.ts';
import { type EncodedPiece, shareOut, stretchesOf } from './encode-pieces.ts';
import { GivenText } from './given-text.ts';
import { ChatTemplate, type PromptPiece, type RenderOptions } from './chat-template.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import type { ModelConfig } from '../config/architecture.ts';
import { JsonFields } from '../config/json-fields.ts';
import { readModelConfig } from '../config/model-config.ts';
import { readJson } from '../config/read-json.ts';
import { templateFiles, templateSources } from './template-sources.ts';
import { Tokenizer } from './tokenizer.ts';
import { append } from '../../agent_rl/core/long-lists.ts';
import { Remembered } from '../../agent_rl/core/collections/remembered.ts';

/** The text side of a model: how conversations become tokens and tokens text. */
export class LanguageModel {
  /** The control token that ends an assistant's turn. */
  readonly endOfTurn: string;
  readonly endOfTurnId: number;
  /** Sampling ends at any of these: the end of a turn, and the model's own end of text. */
  readonly stopTokens: readonly number[];
  /** What the template is shown with control tokens hidden. */
  readonly given: GivenText;
  /** Encoded texts of the template and the system, of which there are few. */
  readonly #remembered = new Remembered<readonly EncodedPiece[]>(256);
  /** Gives the tokens of a text that was encoded elsewhere, ahead of its use: a long one takes seconds. */
  ahead?: (text: string) => readonly number[] | undefined;

  /** @throws AgentRlError `TOKENIZER_INVALID` when the template does not end turns with a control token. */
  constructor(
    readonly tokenizer: Tokenizer,
    readonly template: ChatTemplate,
    eosTokenIds: readonly number[] = [],
  ) {
    this.given = new GivenText(tokenizer);
    const tail = template.turnTail;
    const first = tokenizer.encodeTemplate(tail)[0];
    if (first === undefined || !tokenizer.isControl(first)) {
      throw new AgentRlError(
        'TOKENIZER_INVALID',
        `The chat template ends an assistant's turn with ${JSON.stringify(tail)}, which does not start with a control token ` +
          'of the tokenizer, so the model could not end its turn. Use the tokenizer that the template was made for.',
      );
    }
    this.endOfTurnId = first;
    this.endOfTurn = tokenizer.decode([first]);
    this.stopTokens = [...new Set([first, ...eosTokenIds])];
  }

  /** Tokens of pieces that follow each other; only the template's own text may hold control tokens. */
  encodePieces(pieces: readonly PromptPiece[]): readonly EncodedPiece[] {
    return stretchesOf(pieces, this.given).flatMap((stretch) =>
      'tokens' in stretch ? [stretch] : this.#encodeStretch(stretch),
    );
  }

  /** Tokens of a text in which control tokens are meant, unless they were hidden. */
  encodeText(text: string): readonly number[] {
    return this.given
      .parts(text)
      .flatMap((part) => (typeof part === 'string' ? this.#encodePlain(part) : [part]));
  }

  #encodeStretch(pieces: readonly PromptPiece[]): readonly EncodedPiece[] {
    const text = pieces.map((piece) => piece.text).join('');
    const shared = (tokens: readonly number[]) => shareOut(tokens, pieces, this.tokenizer);
    const ahead = this.ahead?.(text);
    if (ahead !== undefined) return shared(ahead);
    const encode = () => shared(this.tokenizer.encodePlain(text));
    const isFixed = pieces.every(({ source }) => source === 'template' || source === 'system');
    return isFixed ? this.#remembered.get(JSON.stringify(pieces), encode) : encode();
  }

  #encodePlain(text: string): readonly number[] {
    return this.ahead?.(text) ?? this.tokenizer.encodePlain(text);
  }

  /**
   * A given turn of the assistant as the tokens it would have sampled, its end-of-turn included. Control tokens in it are
   * meant, unless they were hidden.
   *
   * @throws AgentRlError `TOKENIZER_INVALID` when its text holds a token that frames turns.
   */
  encodeTurn(message: AssistantMessage, options: RenderOptions): readonly number[] {
    const text = this.template.turnText(message, this.endOfTurn, options);
    const tokens = this.encodeText(text);
    const framing = tokens.slice(0, -1).find((id) => this.tokenizer.isSpecial(id));
    if (framing === undefined) return tokens;
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `An assistant's message holds ${this.tokenizer.decode([framing])}, a control token that marks turns. Remove it from the message.`,
    );
  }

  /**
   * A model may have more embeddings than its tokenizer has ids, as Qwen's have: such an id, if it is ever drawn, stays
   * in the record as it is and reads as U+FFFD.
   *
   * @throws AgentRlError `TOKENIZER_INVALID` when the tokenizer or the list of stop tokens has ids the model has no
   * embedding for.
   */
  checkFits(config: ModelConfig): void {
    const size = this.tokenizer.vocabularySize;
    const beyond = this.stopTokens.find((id) => id >= config.vocabSize);
    if (size <= config.vocabSize && beyond === undefined) return;
    const found =
      size > config.vocabSize
        ? `The tokenizer has ids up to ${size - 1}`
        : `Token ${beyond} is a stop token in generation_config.json or config.json`;
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `${found}, but the model has embeddings for only ${config.vocabSize} tokens. Use the model's own tokenizer.`,
    );
  }
}

/** Files and folders of a model folder that are not weights, besides config.json. */
const tokenizerFiles = [
  'tokenizer.json',
  'tokenizer_config.json',
  ...templateFiles,
  'generation_config.json',
];

/**
 * Opens the tokenizer and the chat template of a Hugging Face model folder. The template is what
 * `templateSources` finds. Where the folder holds a model's config.json,
 * the tokenizer must fit it.
 *
 * @throws AgentRlError `TOKENIZER_INVALID`, `MODEL_INVALID`
 */
export async function openLanguageModelFolder(folder: string): Promise<LanguageModel> {
  const tokenizer = await Tokenizer.fromFolder(folder);
  const sources = await templateSources(folder);
  const model = new LanguageModel(
    tokenizer,
    new ChatTemplate(sources, tokenizer.namedTokens),
    await endsOfText(folder, tokenizer),
  );
  const configFile = path.join(folder, 'config.json');
  if (existsSync(configFile)) {
    model.checkFits(readModelConfig(await readJson(configFile, 'MODEL_INVALID'), configFile));
  }
  return model;
}

/** Copies tokenizer and chat template of a model folder, so that another that holds weights is a whole one. */
export async function copyLanguageModelFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const present = tokenizerFiles.filter((name) => existsSync(path.join(from, name)));
  await Promise.all(
    present.map((name) => cp(path.join(from, name), path.join(to, name), { recursive: true })),
  );
}

/**
 * What the folder calls the end of text: generation_config.json, config.json and, where it has a tokenizer, its
 * `eos_token`. How to sample, which generation_config.json advises on too, is the run's to say.
 */
export async function endsOfText(
  folder: string,
  tokenizer: Tokenizer | undefined,
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const name of ['generation_config.json', 'config.json']) {
    const file = path.join(folder, name);
    if (!existsSync(file)) continue;
    const json = await readJson(file, 'MODEL_INVALID');
    const fields = new JsonFields(isRecord(json) ? json : {}, [], `${file}: `);
    append(ids, fields.tokenIds('eos_token_id'));
    for (const problem of fields.problems) throw new AgentRlError('MODEL_INVALID', problem);
  }
  const eosToken = tokenizer?.namedTokens['eos_token'];
  if (tokenizer === undefined || eosToken === undefined) return ids;
  return [...ids, tokenizer.idOf(eosToken)];
}
