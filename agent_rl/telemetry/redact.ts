import { isNativeError } from 'node:util/types';

// `AUTH` does not match in `AUTHOR`; `PWD` by itself and `PATH` say where something is.
const secretName =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|BEARER|AUTH(?!OR(?!IZ))|(?:^|_)(?:PASS|PAT|DSN|JWT|PRIVATE)(?:_|$)|_PWD(?:_|$)|^PWD_/i;

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
 * PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL, COOKIE, BEARER or AUTH, with the word PASS, PAT, DSN, JWT or PRIVATE, or with
 * PWD beside another word; values of at least 6 characters) and the passwords of URLs in any variable, as `hideSecrets` does.
 */
export const redactor = (environment: NodeJS.ProcessEnv = process.env): Redact =>
  hideSecrets(secretValues(environment));

/**
 * Makes a function that replaces the given secrets, as they are, as JSON writes them, in every spelling that URLs and forms
 * give them, and in base64, also where it is a part of what was encoded.
 */
export function hideSecrets(secrets: readonly string[]): Redact {
  const long = secrets.filter(({ length }) => length >= shortestSecret);
  const forms = [
    ...longestFirst(long.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])),
    ...longestFirst(long)
      .filter((secret) => reserved.test(secret))
      .map(inUrl),
    ...longestFirst(long.flatMap(inBase64)),
  ];
  return (text) =>
    forms.reduce<string>((clean, form) => clean.replaceAll(form, '[redacted]'), text);
}

/** A secret may be a part of another one. */
const longestFirst = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts)].toSorted((a, b) => b.length - a.length);

/** What some or all URLs write as `%2F` or `%2f`. */
const reserved = /[^A-Za-z0-9_.~-]/;

/** Matches a text in a URL or a form, whichever of its characters are encoded. */
const inUrl = (secret: string): RegExp =>
  new RegExp(Array.from(secret, (character) => eitherWay(character)).join(''), 'g');

function eitherWay(character: string): string {
  // As a pattern, whatever the character means in one.
  const itself = character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
  if (!reserved.test(character)) return itself;
  const bytes = Buffer.from(character).toString('hex').match(/../g) ?? [];
  const encoded = bytes.map((byte) => `%(?:${byte}|${byte.toUpperCase()})`).join('');
  return `(?:${itself}|${encoded}${character === ' ' ? '|\\+' : ''})`;
}

/**
 * What base64 of any text that holds the secret holds: by how many bytes stand before it in a group of three. Characters
 * that depend on its neighbours are left out.
 */
function inBase64(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const [first, end] = [Math.ceil((8 * before) / 6), Math.floor((8 * bytes.length) / 6)];
    return [bytes.toString('base64'), bytes.toString('base64url')].map((text) =>
      text.slice(first, end),
    );
  });
}

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
