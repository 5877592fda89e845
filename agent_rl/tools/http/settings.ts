import { type Static, Type } from 'typebox';

import { choice, integer, text, within } from '../../config/blocks/block.ts';
import { webProperties } from '../../search/web/index.ts';

/** The tool's block in YAML: all there is to it. */
export const HttpSettings = Type.Object({
  name: text('Name the model calls', { pattern: '^[a-z][a-z0-9_]*$', maxLength: 64 }),
  description: text('One sentence for the model: what the tool does and when to use it', {
    minLength: 10,
  }),
  url: text('URL with {parameter} where a value belongs; values are escaped', {
    pattern: '^https?://',
  }),
  method: choice('HTTP method', ['GET', 'POST'], 'GET'),
  parameters: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]*$' }), Type.Unknown(), {
    default: {},
    description: 'JSON Schema of each parameter by its name',
  }),
  optional: Type.Array(Type.String(), {
    default: [],
    description: 'Parameters that may be left out',
  }),
  query: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    default: {},
    description: 'Parameters of the URL; {parameter} stands for a value',
  }),
  body: Type.Optional(
    Type.Unknown({
      description:
        'JSON sent by POST, as application/json; a text that is only {parameter} becomes its value',
    }),
  ),
  headers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]+$' }), Type.String(), {
    default: {},
    description: 'Headers; ${NAME} stands for the environment variable NAME, kept secret',
  }),
  allowHosts: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      "Hosts, with or without a port, that may be asked besides the URL's own, as by a redirect",
  }),
  maxContentChars: integer(
    'Longest answer shown; the rest is cut visibly',
    within(40, 100_000, 4000),
  ),
  ...webProperties,
});

export type HttpSettings = Static<typeof HttpSettings>;
