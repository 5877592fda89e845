import { WebFailure } from '../web-failure.ts';
import { declaredCharset } from './declared-charset.ts';

/** Largest share of characters that may be unreadable. */
const mostUnreadable = 0.01;

export interface DecodedText {
  text: string;
  /** As it was decoded, a WHATWG label. */
  encoding: string;
}

/**
 * Bytes of a page as text: by its byte order mark, else by the header, else, for HTML and XML, by what the page itself
 * names, else as UTF-8 and, where it is not, as windows-1252, as browsers do. A label of HTML that names no encoding
 * is passed over, as the HTML standard says.
 *
 * @throws WebFailure `not-text` for what is binary, `wrong-encoding` for an encoding that cannot be read or one that most
 *   of the page does not fit.
 */
export function decodeText(bytes: Buffer, contentType = ''): DecodedText {
  const markup = /^$|html|xml/.test(mimeOf(contentType)) || startsAsHtml(bytes);
  const header = charsetOf(contentType);
  const declared =
    markOf(bytes) ??
    (header !== undefined && (!markup || isEncoding(header)) ? header : undefined) ??
    (markup ? declaredCharset(bytes, isEncoding) : undefined);
  if (declared === undefined) {
    requireNoNul(bytes);
    try {
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'utf-8' };
    } catch {
      return { text: decoded(decoderOf('windows-1252'), bytes), encoding: 'windows-1252' };
    }
  }
  const decoder = decoderOf(declared);
  if (!decoder.encoding.startsWith('utf-16')) requireNoNul(bytes);
  const text = decoded(decoder, bytes);
  const unreadable = text.match(/\uFFFD/gu)?.length ?? 0;
  if (unreadable > mostUnreadable * text.length) {
    throw new WebFailure('wrong-encoding', `the page says it is ${declared}, which it is not`);
  }
  return { text, encoding: decoder.encoding };
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    throw new WebFailure('wrong-encoding', `the page is in an unknown encoding, ${label}`);
  }
}

/** Encodings of the Encoding standard that Node cannot read, or that the standard itself reads as nothing. */
const unread =
  /^(?:iso-?8859-16|replacement|(?:cs)?iso-?2022-?(?:kr|cn|cn-ext)|hz-gb-2312|x-user-defined)$/;

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return unread.test(label);
  }
}

/** In two steps: in one, Node 20 reads windows-1252 as ISO-8859-1, without its quotes, dashes and the euro sign. */
const decoded = (decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): string =>
  decoder.decode(bytes, { stream: true }) + decoder.decode();

function requireNoNul(bytes: Buffer): void {
  if (bytes.includes(0)) throw new WebFailure('not-text', 'the page is binary and not text');
}

function markOf(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 3).toString('hex');
  if (start === 'efbbbf') return 'utf-8';
  if (start.startsWith('fffe')) return 'utf-16le';
  return start.startsWith('feff') ? 'utf-16be' : undefined;
}

const startsAsHtml = (bytes: Buffer): boolean =>
  /^\s*<(?:!doctype|html)/i.test(bytes.subarray(0, 1024).toString('latin1'));

const charsetOf = (text: string): string | undefined =>
  /;\s*charset\s*=\s*"?\s*([\w.:-]{1,40})/i.exec(text)?.[1]?.toLowerCase();

/** The type of a `content-type` header without its parameters, in small letters; empty without one. */
export const mimeOf = (contentType: string): string =>
  (contentType.split(';')[0] ?? '').trim().toLowerCase();
