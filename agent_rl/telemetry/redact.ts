import { isNativeError } from 'node:util/types';

// `AUTH` does not match in `AUTHOR`; `PWD` by itself and `PATH` say where something is.
const secretName =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH(?!OR(?!IZ))|(?:^|_)(?:PASS|PAT|DSN)(?:_|$)|_PWD(?:_|$)|^PWD_/i;

/** `scheme://user:password@host`, as of databases and proxies. */
const urlWithPassword = /[a-z][a-z0-9+.-]*:\/\/([^\s:/@]*):([^\s/@]+)@/gi;

// Shorter values are switches and numbers; hiding them would black out ordinary text.
const shortestSecret = 6;

/** Hides secrets in text. */
export type Redact = (text: string) => string;

/** Values of the environment variables whose names say that they are secret, and passwords in URLs; longest first. */
export function secretValues(environment: NodeJS.ProcessEnv): readonly string[] {
  const values = Object.entries(environment)
    .flatMap(([name, value = '']) =>
      secretName.test(name) ? [value.trim()].concat(urlPasswords(value)) : urlPasswords(value),
    )
    .filter((value) => value.length >= shortestSecret);
  return [...new Set(values)].toSorted((a, b) => b.length - a.length);
}

/** As they are written and as they are meant; one too short to hide alone is hidden with its user. */
function urlPasswords(value: string): string[] {
  return [...value.matchAll(urlWithPassword)].flatMap(([, user = '', password = '']) =>
    password.length < shortestSecret ? [`${user}:${password}@`] : [password, decoded(password)],
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign: nothing is encoded.
    return text;
  }
}

/** The environment for a child process: without the variables that hold a secret. */
export const withoutSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value = '']) => !secretName.test(name) && urlPasswords(value).length === 0,
    ),
  );

/**
 * Makes a function that replaces the values of secret-looking environment variables (names with KEY, TOKEN, SECRET,
 * PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL or AUTH, with the word PASS, PAT or DSN, or with PWD beside another word;
 * values of at least 6 characters) and the passwords of URLs in any variable, as `hideSecrets` does.
 */
export const redactor = (environment: NodeJS.ProcessEnv = process.env): Redact =>
  hideSecrets(secretValues(environment));

/** Makes a function that replaces the given secrets, in the forms in which texts, URLs, JSON and HTTP write them. */
export function hideSecrets(secrets: readonly string[]): Redact {
  const forms = secrets.filter(({ length }) => length >= shortestSecret).flatMap(formsOf);
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((clean, form) => clean.replaceAll(form, '[redacted]'), text);
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
];

/**
 * What a text of JSON holds, with secrets hidden in its texts. Never breaks it: a secret may look like a number or a
 * name of JSON.
 *
 * @throws SyntaxError for what is not JSON
 */
export const parseHiding = (json: string, hide: Redact): unknown =>
  JSON.parse(json, (_, value: unknown) => (typeof value === 'string' ? hide(value) : value));

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
