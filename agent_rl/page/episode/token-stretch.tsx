import { useState } from 'preact/hooks';

import type { EpisodeTokens } from '../../runs/view/api.ts';
import { Visible } from '../text/plain-text.tsx';
import { sourceClass } from './token-modes.ts';

interface TokenStretchProps {
  tokens: EpisodeTokens;
  from: number;
  to: number;
  /** The token to mark as the first that differs from another episode. */
  partsAt: number | null;
}

const shownAtFirst = 1500;

/** The text of some tokens, coloured by their source. */
export function TokenStretch({ tokens, from, to, partsAt }: TokenStretchProps) {
  const [isWhole, setWhole] = useState(false);
  const end = isWhole ? to : Math.min(to, from + shownAtFirst);
  const pieces = piecesOf(tokens, from, end, partsAt);
  return (
    <div class="stretch">
      {pieces.map(({ start, stop, source, isMark }) => {
        const text = textOf(tokens, start, stop);
        return isMark ? (
          <mark key={start} class={sourceClass(source)} title="the first different token">
            <Visible text={text.replaceAll('\n', '↵\n')} />
          </mark>
        ) : (
          <span key={start} class={sourceClass(source)}>
            <Visible text={text} />
          </span>
        );
      })}
      {end < to && (
        <button type="button" onClick={() => setWhole(true)}>
          show all ({(to - from).toLocaleString('en')} tokens)
        </button>
      )}
    </div>
  );
}

const textOf = ({ texts, ids }: EpisodeTokens, start: number, stop: number): string =>
  texts
    ? texts.slice(start, stop).join('')
    : ids
        .slice(start, stop)
        .map((id) => `[${id}]`)
        .join('');

interface Piece {
  start: number;
  stop: number;
  source: string;
  isMark: boolean;
}

/** Spans cut to the stretch, and around the marked token. */
function piecesOf(
  { spans }: EpisodeTokens,
  from: number,
  end: number,
  partsAt: number | null,
): readonly Piece[] {
  const cuts = partsAt === null ? [] : [partsAt, partsAt + 1];
  return spans.flatMap(({ start, end: last, source }) => {
    const edges = [Math.max(start, from), ...cuts, Math.min(last, end)].filter(
      (edge) => edge >= Math.max(start, from) && edge <= Math.min(last, end),
    );
    return edges.slice(1).flatMap((stop, index): Piece[] => {
      const begin = edges[index] ?? stop;
      return stop > begin ? [{ start: begin, stop, source, isMark: begin === partsAt }] : [];
    });
  });
}
