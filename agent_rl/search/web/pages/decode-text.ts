import { WebFailure } from '../web-failure.ts';

/** Largest share of characters that may be unreadable. */
const mostUnreadable = 0.01;

export interface DecodedText {
  text: string;
  /** As it was decoded, a WHATWG label. */
  encoding: string;
}

/**
 * Bytes of a page as text: by its byte order mark, else by the header, else by its own `<meta>`, else as UTF-8 and,
 * where it is not, as windows-1252, as browsers do.
 *
 * @throws WebFailure `not-text` for what is binary, `wrong-encoding` for an unknown encoding or one that most of the
 *   page does not fit.
 */
export function decodeText(bytes: Buffer, contentType = ''): DecodedText {
  const declared = markOf(bytes) ?? charsetOf(contentType) ?? charsetOf(ownWords(bytes));
  if (declared === undefined) {
    requireNoNul(bytes);
    try {
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'utf-8' };
    } catch {
      return { text: decoderOf('windows-1252').decode(bytes), encoding: 'windows-1252' };
    }
  }
  const decoder = decoderOf(declared);
  if (!decoder.encoding.startsWith('utf-16')) requireNoNul(bytes);
  const text = decoder.decode(bytes);
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

function requireNoNul(bytes: Buffer): void {
  if (bytes.includes(0)) throw new WebFailure('not-text', 'the page is binary and not text');
}

function markOf(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 3).toString('hex');
  if (start === 'efbbbf') return 'utf-8';
  if (start.startsWith('fffe')) return 'utf-16le';
  return start.startsWith('feff') ? 'utf-16be' : undefined;
}

/** Where a page may name its encoding (HTML standard, 1,024 bytes). */
const ownWords = (bytes: Buffer): string =>
  /<meta[^>]+charset[^>]+>/i.exec(bytes.subarray(0, 1024).toString('latin1'))?.[0] ?? '';

const charsetOf = (text: string): string | undefined =>
  /charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text)?.[1]?.toLowerCase();

/** The type of a `content-type` header without its parameters, in small letters; empty without one. */
export const mimeOf = (contentType: string): string =>
  (contentType.split(';')[0] ?? '').trim().toLowerCase();
