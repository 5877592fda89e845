/**
 * JSON as Python's `json.dumps(value, ensure_ascii=False)` writes it, which chat templates were trained on:
 * a space after `,` and `:`, everything else as in JavaScript.
 */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
    return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}: ${pythonJson(entry)}`).join(', ')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
