const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Where comments and strings are, so that brackets in them do not count. */
const skipped = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/y;

/** The first place where `found` holds outside of all brackets, comments and strings. */
function placeAtTop(text: string, found: (at: number) => boolean): number {
  const open: string[] = [];
  for (let at = 0; at < text.length; at++) {
    skipped.lastIndex = at;
    const skip = skipped.exec(text);
    if (skip !== null) {
      at += skip[0].length - 1;
      continue;
    }
    if (open.length === 0 && found(at)) return at;
    const mark = text[at] ?? '';
    if (closing[mark] !== undefined) open.push(closing[mark]);
    else if (mark === open.at(-1)) open.pop();
  }
  return text.length;
}

/** Up to the body that a function or a method has: a brace that ends its line and follows no type's own. */
function untilBody(text: string): string {
  const end = placeAtTop(
    text,
    (at) => text.startsWith('{\n', at) && !/[:|&=<]\s*$/.test(text.slice(0, at)),
  );
  return text.slice(0, end).trim();
}

/** How something that is exported is declared, without the code that carries it out. */
export function signatureAt(text: string, kind: string): string {
  const bare = text.replace(/^export /, '');
  if (kind === 'interface') {
    // An empty one closes where it opens.
    const empty = /^interface [^\n]*\{\}/.exec(bare)?.[0];
    return empty ?? bare.slice(0, bare.indexOf('\n}') + 2);
  }
  if (kind === 'type') return bare.slice(0, placeAtTop(bare, (at) => bare[at] === ';') + 1);
  if (kind === 'function') return untilBody(bare);
  if (kind === 'class') return bare.slice(0, bare.indexOf('{\n')).trim();
  const arrow = placeAtTop(bare, (at) => bare.startsWith('=>', at) || bare[at] === ';');
  // A constant that is not a function is described by its name and comment.
  return bare.startsWith('=>', arrow) ? bare.slice(0, arrow).trim() : '';
}
