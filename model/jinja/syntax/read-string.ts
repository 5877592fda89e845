const simple: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

const escapes = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gs;

/** What stands between the quotes of a string, with Python's escapes. @throws SyntaxError */
export function readString(written: string): string {
  return written.replace(escapes, (whole, octal?: string, ...rest: (string | undefined)[]) => {
    const hex = rest.slice(0, 3).find((digits) => digits !== undefined);
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if (hex !== undefined) return character(Number.parseInt(hex, 16), whole);
    const letter = rest[3] ?? '';
    // Python writes these as other escapes first, and reads the name of a character.
    if (/[^\p{ASCII}]|[xuUN]/u.test(letter)) throw unknown(whole);
    return simple[letter] ?? whole;
  });
}

function character(code: number, written: string): string {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw unknown(written);
  return String.fromCodePoint(code);
}

const unknown = (written: string): SyntaxError =>
  new SyntaxError(`the escape ${JSON.stringify(written)} in a string is not supported`);
