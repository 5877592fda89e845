import { Ajv } from 'ajv';

import { Type, type TSchema } from '../../core/typebox.ts';
import { messageOf } from '../../core/errors.ts';
import type { ToolFace } from '../../core/plugins/tool.ts';
import { checkBudget } from '../../search/web/index.ts';
import { graceS } from '../web-call.ts';
import { placeholdersOf } from './fill-template.ts';
import type { HttpSettings } from './settings.ts';

/**
 * Checks that template and parameters fit, and gives the tool the name and the schema that its settings describe.
 *
 * @throws Error that says what is wrong and what to do.
 */
export function configureHttp(settings: HttpSettings): ToolFace {
  const { name, description, parameters, deadlineS, maxContentChars } = settings;
  checkUrl(settings);
  checkPlaceholders(settings);
  checkHeaders(settings);
  checkBudget(settings.budget);
  if (settings.method === 'GET' && settings.body !== undefined) {
    throw new Error(
      'body: is only sent with POST. Set method to POST, or use query instead of body.',
    );
  }
  const schema = schemaOf(settings);
  try {
    new Ajv({ strict: false, code: { optimize: false } }).compile(schema);
  } catch (cause) {
    throw new Error(
      `parameters: ${Object.keys(parameters).join(', ')} are not a JSON Schema: ${messageOf(cause)}.`,
      { cause },
    );
  }
  return {
    name,
    description,
    parameters: schema,
    deadlineS: deadlineS + graceS,
    maxContentChars,
  };
}

function schemaOf({ parameters, optional }: HttpSettings): TSchema {
  const properties = Object.entries(parameters).map(([name, schema]) => {
    const property = Type.Unsafe<unknown>(schema as TSchema);
    return [name, optional.includes(name) ? Type.Optional(property) : property] as const;
  });
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false });
}

function checkUrl({ url, allowHosts }: HttpSettings): void {
  const [, authority = ''] = /^https?:\/\/([^/?#]*)/.exec(url) ?? [];
  if (authority.includes('@')) {
    throw new Error(
      'url: must not contain a password. Put the password in an environment variable, and write ${NAME} for that variable in headers.',
    );
  }
  if (placeholdersOf(authority).length > 0 && allowHosts.length === 0) {
    throw new Error(
      `url: lets the model choose the host ${authority}. List the permitted hosts in allowHosts:.`,
    );
  }
  const sample = url.replaceAll(/\{[^}]*\}/g, 'x');
  if (!URL.canParse(sample)) throw new Error(`url: ${JSON.stringify(url)} is not a URL.`);
}

/** Headers that belong to the connection or are counted from the body. */
const ownHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Values of variables are checked when they are read. */
function checkHeaders({ headers }: HttpSettings): void {
  for (const [name, value] of Object.entries(headers)) {
    if (ownHeaders.has(name.toLowerCase())) {
      throw new Error(`headers: the header ${name} is set by the connection itself. Remove it.`);
    }
    const [wrong] = /[^\t\x20-\x7E\x80-\xFF]/u.exec(value) ?? [];
    if (wrong !== undefined) {
      throw new Error(
        `headers: the header ${name} holds ${JSON.stringify(wrong)}, which is not allowed in a header. Write it in ASCII, for example percent-encoded.`,
      );
    }
  }
}

function checkPlaceholders({ url, query, body, parameters, optional }: HttpSettings): void {
  const known = Object.keys(parameters);
  const inUrl = placeholdersOf(url);
  const used = [...inUrl, ...placeholdersOf(query), ...placeholdersOf(body)];
  const list = known.join(', ') || 'none';
  for (const name of used.filter((one) => !known.includes(one))) {
    throw new Error(`{${name}} is not a parameter. The parameters are: ${list}.`);
  }
  for (const name of optional) {
    if (!known.includes(name))
      throw new Error(`optional: ${name} is not a parameter. The parameters are: ${list}.`);
    if (inUrl.includes(name))
      throw new Error(
        `{${name}} is used in url:, so it cannot be optional. Remove it from optional:.`,
      );
  }
  for (const name of known.filter((one) => !used.includes(one))) {
    throw new Error(
      `the parameter ${name} is not used in url, query or body. Use it, or remove it.`,
    );
  }
}
