/**
 * A Python program as a template whose backslashes are Python's own. The indentation of its first line is taken from
 * every line.
 */
export function python(
  parts: TemplateStringsArray,
  ...values: readonly (string | number)[]
): string {
  const lines = String.raw(parts, ...values)
    .replace(/^\n/, '')
    .trimEnd()
    .split('\n');
  const indent = /^ */.exec(lines[0] ?? '')?.[0] ?? '';
  return lines
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n');
}
