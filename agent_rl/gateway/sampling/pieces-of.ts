import { EventStream } from '../../core/collections/event-stream.ts';
import type { OnText } from './served-model.ts';

/** Texts by what they are. */
export type Said = Readonly<Record<string, string>>;

/** An answer in pieces. */
export interface Pieces<Result> {
  /** What was said, piece by piece. */
  texts: AsyncIterable<Said>;
  result: Promise<Result>;
}

/**
 * What an answer says while it is sampled. Together the pieces are what `whole` says of the result: where they cannot be, it
 * fails.
 *
 * @param soFar what the beginning of an answer says already
 */
export function piecesOf<Result>(
  sample: (onText: OnText) => Promise<Result>,
  { soFar, whole }: { soFar: (text: string) => Said; whole: (result: Result) => Said },
): Pieces<Result> {
  const stream = new EventStream<Said>();
  const events = stream.read();
  const sent: Record<string, string> = {};
  const send = (name: string, text: string): void => {
    const before = sent[name] ?? '';
    if (!text.startsWith(before)) throw changed(name, before, text);
    if (text.length === before.length) return;
    stream.push({ [name]: text.slice(before.length) });
    sent[name] = text;
  };
  const result = sample((text) => {
    for (const [name, said] of Object.entries(soFar(text))) {
      const kept = steady(said);
      if (!(sent[name] ?? '').startsWith(kept)) send(name, kept);
    }
  })
    .then((made) => {
      for (const [name, said] of Object.entries(whole(made))) send(name, said);
      return made;
    })
    .finally(() => stream.end());
  // The caller that awaits the result gets the error.
  result.catch(() => undefined);
  return { texts: events, result };
}

/** Without what later tokens may still change: half a character, and blanks that the end of a turn drops. */
const steady = (text: string): string => text.replace(/[\s\uFFFD]+$/, '');

const changed = (name: string, sent: string, text: string): Error =>
  new Error(
    `While streaming, the ${name} of a turn was read as ${JSON.stringify(sent.slice(-80))}, but when the turn was complete, it was read as ${JSON.stringify(text.slice(0, sent.length).slice(-80))}. Add the text that a call begins with to opensCall of the tool-call format.`,
  );
