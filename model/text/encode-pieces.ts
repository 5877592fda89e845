import type { PromptPiece } from './chat-template.ts';
import type { GivenText } from './given-text.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Tokens of one source. */
export interface EncodedPiece {
  readonly source: PromptPiece['source'];
  readonly tokens: readonly number[];
}

/** What stands between two control tokens, or a control token. */
type Stretch = readonly PromptPiece[] | EncodedPiece;

/**
 * Pieces as stretches between control tokens. What touches is encoded together, as the whole text would be; only the
 * template's text holds control tokens.
 */
export function stretchesOf(pieces: readonly PromptPiece[], given: GivenText): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let open: PromptPiece[] = [];
  for (const { source, text } of pieces) {
    for (const part of source === 'template' ? given.parts(text) : [text]) {
      if (typeof part === 'string') open.push({ source, text: part });
      else {
        stretches.push(open, { source, tokens: [part] });
        open = [];
      }
    }
  }
  stretches.push(open);
  return stretches;
}

/**
 * The tokens of pieces that were encoded together, by piece. One that holds characters of several is of the first of
 * them that is not the template: it may say what others wrote.
 */
export function shareOut(
  tokens: readonly number[],
  pieces: readonly PromptPiece[],
  tokenizer: Tokenizer,
): readonly EncodedPiece[] {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return [{ source: only.source, tokens }];
  const ends: number[] = [];
  for (const { text } of pieces) ends.push((ends.at(-1) ?? 0) + tokenizer.bytesIn(text));
  const shares: { source: PromptPiece['source']; tokens: number[] }[] = [];
  let at = 0;
  let piece = 0;
  for (const token of tokens) {
    while (piece < pieces.length - 1 && ends[piece]! <= at) piece += 1;
    at += tokenizer.lengthOf(token);
    let last = piece;
    while (last < pieces.length - 1 && ends[last]! < at) last += 1;
    const held = pieces.slice(piece, last + 1);
    const { source } = held.find((one) => one.source !== 'template') ?? held[0]!;
    const share = shares.at(-1);
    if (share?.source === source) share.tokens.push(token);
    else shares.push({ source, tokens: [token] });
  }
  return shares;
}
