type Json = Readonly<Record<string, unknown>>;
type Cut = (text: string) => readonly string[];

/** A step as the library has built it. */
export interface BuiltStep {
  readonly pattern: RegExp;
  pre_tokenize_text: Cut;
}

/** The steps one after the other. The library's own cuts cost more: it makes its expressions anew for each text. */
export function cutting(
  steps: readonly Json[],
  built: readonly BuiltStep[],
): (text: string) => string[] {
  const cuts = built.map((step, at): Cut => {
    const { type, behavior, invert } = steps[at] ?? {};
    if (type !== 'Split') return (text) => step.pre_tokenize_text(text);
    return (text) =>
      piecesBy(behavior, foundIn(text, step.pattern, invert === true))
        .map(({ start, end }) => text.slice(start, end))
        .filter((piece) => piece !== '');
  });
  return (text) => cuts.reduce<string[]>((parts, cut) => parts.flatMap(cut), [text]);
}

interface Piece {
  start: number;
  end: number;
  /** Whether it counts as found by the pattern. */
  found: boolean;
}

/** What a pattern finds, and the text between; as in Rust it finds no empty text where it last found something. */
export function foundIn(text: string, pattern: RegExp, invert = false): Piece[] {
  const pieces: Piece[] = [];
  let end: number | undefined;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [{ length }] = match;
    const start = match.index;
    // V8 looks for expressions that begin with (?!…) in the middle of a pair of surrogates too.
    const inPair = isLowSurrogate(text, start);
    if (inPair || length === 0)
      pattern.lastIndex = start + (isLowSurrogate(text, start + 1) ? 2 : 1);
    if (inPair || (length === 0 && start === end)) continue;
    if (start > (end ?? 0)) pieces.push({ start: end ?? 0, end: start, found: invert });
    end = start + length;
    pieces.push({ start, end, found: !invert });
  }
  if ((end ?? 0) < text.length) pieces.push({ start: end ?? 0, end: text.length, found: invert });
  return pieces;
}

const isLowSurrogate = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00;

function piecesBy(behavior: unknown, pieces: readonly Piece[]): readonly Piece[] {
  switch (behavior) {
    case 'Removed':
      return pieces.filter(({ found }) => !found);
    case 'Contiguous':
      return joined(pieces, (found, before) => found === before);
    case 'MergedWithPrevious':
      return joined(pieces, (found, before) => found && !before);
    case 'MergedWithNext':
      return joined(pieces.toReversed(), (found, after) => found && !after).toReversed();
    default:
      return pieces;
  }
}

/** Pieces, some of them joined with the one before them. */
function joined(
  pieces: readonly Piece[],
  joins: (found: boolean, before: boolean) => boolean,
): Piece[] {
  const results: Piece[] = [];
  let before = false;
  for (const { start, end, found } of pieces) {
    const last = results.at(-1);
    if (last !== undefined && joins(found, before)) {
      last.start = Math.min(last.start, start);
      last.end = Math.max(last.end, end);
    } else results.push({ start, end, found });
    before = found;
  }
  return results;
}
