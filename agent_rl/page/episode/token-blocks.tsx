import type { EpisodeTokens } from '../../runs/view/api.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { sourceClass } from './token-modes.ts';

interface TokenBlocksProps {
  tokens: EpisodeTokens;
  /** One for each token. */
  classes: readonly string[];
  /** The first token that is not shown yet. */
  end: number;
}

/** Tokens in an element that the browser can skip when it is out of sight. */
const chunkSize = 400;

/** Tokens in blocks of one source, each with the name of the source beside it. */
export function TokenBlocks({ tokens, classes, end }: TokenBlocksProps) {
  const spans = tokens.spans.filter(({ start }) => start < end);
  let turn = 0;
  return (
    <>
      {spans.map((span) => {
        const isSampled = span.source === 'sampled';
        if (isSampled) turn += 1;
        const amount = span.end - span.start;
        const version = span.version === undefined ? '' : `, weights ${span.version}`;
        const title = `${escapeUnseen(span.source)}${isSampled ? `, turn ${turn}` : ''}${version}`;
        return (
          <div
            key={span.start}
            class={`block ${sourceClass(span.source)}`}
            role="group"
            aria-label={title}
          >
            <div class="gutter" aria-hidden="true">
              {isSampled ? `turn ${turn}` : escapeUnseen(span.source)}
              <small>{amount}</small>
            </div>
            <div class="run-of-tokens" role="presentation">
              {chunksOf(span.start, Math.min(span.end, end)).map(([from, to]) => (
                <div key={from} class="chunk" role="presentation">
                  {tokens.ids.slice(from, to).map((id, index) => (
                    <Token
                      key={index}
                      at={from + index}
                      text={tokens.texts?.[from + index] ?? `[${id}]`}
                      class={classes[from + index] ?? ''}
                    />
                  ))}
                </div>
              ))}
            </div>
          </div>
        );
      })}
    </>
  );
}

function chunksOf(start: number, end: number): readonly (readonly [number, number])[] {
  const amount = Math.ceil((end - start) / chunkSize);
  return Array.from({ length: amount }, (_, index) => [
    start + index * chunkSize,
    Math.min(end, start + (index + 1) * chunkSize),
  ]);
}

const Token = ({ at, text, class: colour }: { at: number; text: string; class: string }) => (
  <span class={`token ${colour}`} id={`token-${at}`} role="option" data-at={at}>
    {shownText(text)}
  </span>
);

/** Shows a sign for line feeds, tabs and empty tokens. */
const shownText = (text: string): string =>
  text === '' ? '∅' : escapeUnseen(text).replaceAll('\n', '↵\n').replaceAll('\t', '→\t');
