/** Most characters in which an expression is looked for. */
export const longest = 4000;

/** What stands between the braces of the last `\boxed{…}`, braces inside it in pairs. */
export function lastBoxed(text: string): string | undefined {
  const opening = [...text.matchAll(/\\f?box(?:ed)?\s*(?:\{|(\d+)(?![\d.,]))/gu)].at(-1);
  if (opening === undefined || opening[1] !== undefined) return opening?.[1];
  const start = opening.index + opening[0].length;
  let depth = 1;
  for (let end = start; end < text.length; end++) {
    if (text[end] === '{' && text[end - 1] !== '\\') depth += 1;
    if (text[end] === '}' && text[end - 1] !== '\\') depth -= 1;
    if (depth === 0) return text.slice(start, end);
  }
  return undefined;
}

/** What stands on the line behind the last `####`, or else behind the last "answer is" or "answer:", or on the next line. */
export function lastSaid(text: string): string | undefined {
  const hashes = text.lastIndexOf('####');
  if (hashes !== -1) return text.slice(hashes + 4).split('\n', 1)[0];
  const marks = [
    ...text.matchAll(/\banswer(?:s?\s+(?:is|are)(?!\s+not\b)|\s{0,9}(?:\*\*)?\s{0,9}[:=])/giu),
  ];
  const last = marks.at(-1);
  if (last === undefined) return undefined;
  const lines = text
    .slice(last.index + last[0].length, last.index + longest)
    .replace(/^[\s:]*(?:(?:\*\*|__)\s)?\s*/u, '');
  return lines.startsWith('\\[') || lines.startsWith('$$') ? lines : lines.split('\n', 1)[0];
}

/** What a text marks as its answer: in the last `\boxed{…}`, behind the last `####` or behind the last "answer is". */
export const markedText = (text: string): string | undefined => lastBoxed(text) ?? lastSaid(text);
