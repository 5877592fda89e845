/** Arguments of a call, checked against the tool's parameters. */
export type Arguments = Readonly<Record<string, unknown>>;

const placeholder = /\{([a-z][a-z0-9_]*)\}/g;

/** Names in a template of any shape, in the order of their places. */
export function placeholdersOf(template: unknown): readonly string[] {
  if (typeof template === 'string') {
    return [...template.matchAll(placeholder)].map(([, name = '']) => name);
  }
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(placeholdersOf);
}

const written = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/**
 * A URL with the values in their places.
 *
 * @throws Error for a value that would lead to another folder of the server.
 */
export function fillUrl(template: string, values: Arguments): URL {
  const filled = template.replaceAll(placeholder, (_, name: string) => {
    const value = written(values[name]);
    // Dots mean the folder above even when they are escaped.
    if (/^\.{1,2}$/.test(value) || value === '') {
      throw new Error(`${name} may not be ${JSON.stringify(value)}`);
    }
    // Through bytes: half of a surrogate pair cannot be escaped.
    return encodeURIComponent(Buffer.from(value).toString());
  });
  return new URL(filled);
}

/**
 * A template of JSON with the values in their places: a text that is only `{name}` becomes the value itself. What an
 * optional parameter that was left out stands for is left out.
 */
export function fillJson(template: unknown, values: Arguments): unknown {
  if (typeof template === 'string') return fillText(template, values);
  if (Array.isArray(template)) {
    return template.map((part) => fillJson(part, values)).filter((part) => part !== undefined);
  }
  if (typeof template !== 'object' || template === null) return template;
  const entries = Object.entries(template)
    .map(([key, part]) => [key, fillJson(part, values)] as const)
    .filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries);
}

function fillText(template: string, values: Arguments): unknown {
  const [whole] = [...template.matchAll(placeholder)];
  if (whole !== undefined && whole[0] === template) return values[whole[1] ?? ''];
  return template.replaceAll(placeholder, (_, name: string) => written(values[name] ?? ''));
}

/** A URL with parameters added, whose values come from templates. */
export function withQuery(url: URL, query: Readonly<Record<string, unknown>>, values: Arguments) {
  const result = new URL(url);
  const filled = fillJson(query, values) as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(filled)) {
    result.searchParams.set(name, written(value));
  }
  return result;
}
