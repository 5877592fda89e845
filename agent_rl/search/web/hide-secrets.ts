/** As everywhere: what is shorter is a flag or a version and would be taken out of words and numbers. */
const shortestSecret = 6;

/** A text without the given secrets, in the forms that URLs, JSON and HTTP write them. */
export function hideSecrets(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter(({ length }) => length >= shortestSecret).flatMap(formsOf);
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((clean, form) => clean.replaceAll(form, '[redacted]'), text);
}

/**
 * What a text of JSON holds, without secrets in its texts. Never breaks it: a secret may look like a number or a name
 * of JSON.
 *
 * @throws SyntaxError for what is no JSON
 */
export const parseHiding = (json: string, hide: (text: string) => string): unknown =>
  JSON.parse(json, (_, value: unknown) => (typeof value === 'string' ? hide(value) : value));

const formsOf = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
];
