import { type Static, Type } from '../../core/typebox.ts';
import { choice, integer, text, within } from '../../config/blocks/block.ts';
import { webProperties } from '../../search/web/index.ts';

/** The tool's block in YAML: all there is to it. */
export const HttpSettings = Type.Object({
  name: text('Name by which the model calls the tool', {
    pattern: '^[a-z][a-z0-9_]*$',
    maxLength: 64,
  }),
  description: text('One sentence for the model: what the tool does and when to use it', {
    minLength: 10,
  }),
  url: text('URL with a {parameter} placeholder for each value; values are escaped', {
    pattern: '^https?://',
  }),
  method: choice('HTTP method', ['GET', 'POST'], 'GET'),
  parameters: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]*$' }), Type.Unknown(), {
    default: {},
    description: 'JSON Schema of each parameter, by name',
  }),
  optional: Type.Array(Type.String(), {
    default: [],
    description: 'Parameters that may be left out',
  }),
  query: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    default: {},
    description: 'Query parameters of the URL; {parameter} is replaced by its value',
  }),
  body: Type.Optional(
    Type.Unknown({
      description:
        'JSON body sent with POST; a text that consists of {parameter} becomes its value',
    }),
  ),
  headers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]+$' }), Type.String(), {
    default: {},
    description:
      'Headers; ${NAME} is replaced by the environment variable NAME, which is kept secret',
  }),
  allowHosts: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'Further hosts, with or without a port, that may be requested, for example after a redirect',
  }),
  maxContentChars: integer(
    'Maximum characters of an answer shown; the cut is marked',
    within(40, 100_000, 4000),
  ),
  ...webProperties,
});

export type HttpSettings = Static<typeof HttpSettings>;
