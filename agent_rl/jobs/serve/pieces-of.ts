import { EventStream } from '../train/training-events.ts';
import type { OnText } from './served-model.ts';

interface Pieces<Result> {
  /** What was said, piece by piece; in one piece what could not be told from a call before it was whole. */
  texts: AsyncIterable<string>;
  result: Promise<Result>;
}

/** What a turn says while it is sampled. Together the pieces are `wholeText` of the result. */
export function piecesOf<Result>(
  sample: (onText: OnText) => Promise<Result>,
  { holdFrom, wholeText }: { holdFrom?: RegExp; wholeText: (result: Result) => string },
): Pieces<Result> {
  const stream = new EventStream<string>();
  const events = stream.read();
  let sent = '';
  const send = (text: string): void => {
    if (text.length <= sent.length || !text.startsWith(sent)) return;
    stream.push(text.slice(sent.length));
    sent = text;
  };
  const result = sample((text) => {
    const held = holdFrom === undefined ? -1 : text.search(holdFrom);
    send(steady(held < 0 ? text : text.slice(0, held)));
  });
  const done = result.then((whole) => send(wholeText(whole))).finally(() => stream.end());
  // Whoever awaits the result hears of it.
  done.catch(() => undefined);
  return { texts: events, result };
}

/** Without what later tokens may still change: half a character, and blanks that the end of a turn drops. */
const steady = (text: string): string => text.replace(/[\s\uFFFD]+$/, '');
