import { isNativeError } from 'node:util/types';

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;

// Shorter values are switches and numbers; hiding them would black out ordinary text.
const shortestSecret = 6;

/** Hides secrets in text. */
export type Redact = (text: string) => string;

/** Values of the environment variables whose names say that they are secret, longest first. */
export function secretValues(environment: NodeJS.ProcessEnv): readonly string[] {
  const values = Object.entries(environment)
    .filter(([name]) => secretName.test(name))
    .map(([, value = '']) => value.trim())
    .filter((value) => value.length >= shortestSecret);
  return [...new Set(values)].toSorted((a, b) => b.length - a.length);
}

/** The environment for a child process: without the variables whose names say that they are secret. */
export const withoutSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !secretName.test(name)));

/**
 * Makes a function that replaces the values of secret-looking environment variables (names with KEY, TOKEN,
 * SECRET, PASSWORD or CREDENTIAL; values of at least 6 characters), as they are and as JSON writes them.
 */
export function redactor(environment: NodeJS.ProcessEnv = process.env): Redact {
  const secrets = secretValues(environment)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
    .toSorted((a, b) => b.length - a.length);
  const forms = [...new Set(secrets)];
  return (text) => forms.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
}

/** A copy of plain data with the secrets in every text of it hidden. Errors become their stack. */
export function redactDeep(value: unknown, redact: Redact, open: readonly unknown[] = []): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (open.includes(value)) return '[circular]';
  if (isNativeError(value)) return redact(value.stack ?? value.message);
  const inside = [...open, value];
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact, inside));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [redact(key), redactDeep(part, redact, inside)]),
  );
}
