/** Bytes that byte-level vocabularies write as they are: visible Latin-1. */
const isVisible = (byte: number): boolean =>
  (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);

/** The others are written as U+0100 and what follows, in order (`bytes_to_unicode` of GPT-2). */
const invisible = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !isVisible(byte));

function byteOfSign(sign: string): number | undefined {
  const code = sign.codePointAt(0) ?? 0;
  return isVisible(code) ? code : invisible[code - 256];
}

/** The bytes of a token as a byte-level vocabulary writes it, undefined where it is written otherwise. */
export function bytesOfToken(token: string): readonly number[] | undefined {
  const bytes: number[] = [];
  for (const sign of token) {
    const byte = byteOfSign(sign);
    if (byte === undefined) return undefined;
    bytes.push(byte);
  }
  return bytes;
}
