import type { IncomingMessage } from 'node:http';

import { messageOf } from '../core/errors.ts';
import { JsonShape } from '../core/wire/json-shape.ts';
import { Refusal } from './refusal.ts';

/** The limits of one body. */
export interface BodyBounds {
  bytes: number;
  /**
   * Numbers, texts, lists and so on. Long texts are read fast; of many small values 40 MB would hold the server up for
   * seconds.
   */
  values: number;
}

/** Enough for code, input and files at their largest, in base64. */
const usualBounds: BodyBounds = { bytes: 64 * 2 ** 20, values: 1_000_000 };
/** Of all bodies that are on their way. */
const mostArrivingBytes = 8 * usualBounds.bytes;
/** A body has to come whole within this. */
const mostSeconds = 60;

/** Bytes of bodies that have not come whole. */
export interface Arriving {
  bytes: number;
  /** When the next piece of one that is refused may be read. */
  restAt?: number;
}

/**
 * The body of a request, as JSON. It is looked at piece by piece as it comes, and others are answered in between.
 *
 * @throws Refusal
 */
export async function readBody(
  request: IncomingMessage,
  arriving: Arriving,
  most = usualBounds,
): Promise<unknown> {
  // A web page cannot send this type to another server without a preflight request, which is not answered.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(415, 'content-type must be application/json');
  }
  if (Number(request.headers['content-length'] ?? 0) > most.bytes) throw tooLong(most);
  const until = performance.now() + 1000 * mostSeconds;
  const chunks: Buffer[] = [];
  const shape = new JsonShape();
  let bytes = 0;
  // Of one that says nothing more there is no piece to look at.
  request.setTimeout(1000 * mostSeconds, () => request.destroy());
  try {
    const pieces: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of pieces) {
      bytes += chunk.length;
      arriving.bytes += chunk.length;
      const problem = sizeProblem(bytes, shape.add(chunk), { most, arriving });
      if (problem !== undefined) throw problem;
      if (performance.now() > until) throw tooSlow();
      chunks.push(chunk);
    }
  } finally {
    request.setTimeout(0);
    arriving.bytes -= bytes;
  }
  return parsed(Buffer.concat(chunks));
}

function sizeProblem(
  bytes: number,
  shape: JsonShape,
  { most, arriving }: { most: BodyBounds; arriving: Arriving },
): Refusal | undefined {
  if (bytes > most.bytes) return tooLong(most);
  const problem = shape.problem(most.values);
  if (problem !== undefined) return new Refusal(413, `the body ${problem}`);
  if (arriving.bytes > mostArrivingBytes) {
    return new Refusal(503, 'too many large requests are being received');
  }
  return undefined;
}

const tooLong = ({ bytes }: BodyBounds): Refusal =>
  new Refusal(413, `the body is longer than ${bytes} bytes`);

const tooSlow = (): Refusal =>
  new Refusal(408, `the body was not complete within ${mostSeconds} s`);

/** @throws Refusal */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    const message = `the body is not JSON: ${messageOf(error)}`;
    throw new Refusal(422, message, [{ path: [], message }]);
  }
}
