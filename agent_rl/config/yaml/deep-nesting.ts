import { type CST, Parser } from 'yaml';

/** Far more than is allowed, and far less than would overflow the stack. */
const mostNested = 256;

/**
 * Where blocks and lists of a YAML text are nested so deeply that they must not be composed: composing recurses, and V8 ends the whole
 * process when it compiles a pattern with almost no stack left. Parsing into tokens does not recurse.
 */
export function deepNesting(text: string): number | undefined {
  const open = [...new Parser().parse(text)].map((token): Nested => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (token.type === 'document' && token.value !== undefined)
      open.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    if (depth === mostNested) return token.offset;
    for (const { key, value } of token.items as readonly CollectionItem[])
      for (const part of [key, value])
        if (part != null) open.push({ token: part, depth: depth + 1 });
  }
  return undefined;
}

interface Nested {
  token: CST.Token;
  depth: number;
}

type CollectionItem = Pick<CST.CollectionItem, 'key' | 'value'>;
