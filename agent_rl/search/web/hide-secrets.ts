/** A text without the given secrets, in the forms that URLs, JSON and HTTP write them. */
export function hideSecrets(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => (secret === '' ? [] : formsOf(secret)));
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((clean, form) => clean.replaceAll(form, '[redacted]'), text);
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
];
