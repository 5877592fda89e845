import type { IncomingMessage } from 'node:http';

import { messageOf } from '../core/errors.ts';
import { JsonShape } from '../core/wire/json-shape.ts';
import { Refusal } from './refusal.ts';

/** Enough for code, input and files at their largest, in base64. */
const mostBodyBytes = 64 * 2 ** 20;
/** Of all bodies that are on their way. */
const mostArrivingBytes = 8 * mostBodyBytes;
/**
 * Numbers, texts, lists and so on in one body. Long texts are read fast; of many small values 40 MB would hold the server
 * up for seconds.
 */
const mostValues = 1_000_000;

/** Bytes of bodies that have not come whole. */
export interface Arriving {
  bytes: number;
}

/**
 * The body of a request, as JSON. It is looked at piece by piece as it comes, and others are answered in between.
 *
 * @throws Refusal
 */
export async function readBody(request: IncomingMessage, arriving: Arriving): Promise<unknown> {
  // A web page cannot send this type to another server without a preflight request, which is not answered.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(415, 'content-type must be application/json');
  }
  const chunks: Buffer[] = [];
  const shape = new JsonShape();
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      arriving.bytes += chunk.length;
      const problem = sizeProblem(bytes, shape.add(chunk), arriving);
      if (problem !== undefined) throw problem;
      chunks.push(chunk);
    }
  } finally {
    arriving.bytes -= bytes;
  }
  return parsed(Buffer.concat(chunks));
}

function sizeProblem(bytes: number, shape: JsonShape, arriving: Arriving): Refusal | undefined {
  if (bytes > mostBodyBytes) {
    return new Refusal(413, `the body is longer than ${mostBodyBytes} bytes`);
  }
  const problem = shape.problem(mostValues);
  if (problem !== undefined) return new Refusal(413, `the body ${problem}`);
  if (arriving.bytes > mostArrivingBytes) {
    return new Refusal(503, 'too many large requests are on their way');
  }
  return undefined;
}

/** @throws Refusal */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    const message = `the body is not JSON: ${messageOf(error)}`;
    throw new Refusal(422, message, [{ path: [], message }]);
  }
}
