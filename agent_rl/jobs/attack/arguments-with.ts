import { isRecord } from '../../core/is-record.ts';

/** What of a JSON Schema says what a value may be. */
interface Schema {
  type?: unknown;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minItems?: number;
  maxLength?: number;
}

/** Arguments that fit the schema of a tool, with a text wherever one may stand. */
export function argumentsWith(parameters: object, text: string): Record<string, unknown> {
  const value = valueOf(parameters, text);
  return isRecord(value) ? { ...value } : {};
}

function valueOf(schema: Schema, text: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf?.[0] !== undefined) return valueOf(schema.anyOf[0], text);
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const { properties = {}, required = [] } = schema;
      const kept = Object.entries(properties).filter(
        ([name, part]) => required.includes(name) || [part.type].flat()[0] === 'string',
      );
      return Object.fromEntries(kept.map(([name, part]) => [name, valueOf(part, text)]));
    }
    case 'array':
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () =>
        valueOf(schema.items ?? { type: 'string' }, text),
      );
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return text.slice(0, schema.maxLength);
  }
}

const numberOf = ({ minimum, exclusiveMinimum, maximum = Infinity }: Schema): number =>
  Math.min(maximum, minimum ?? (exclusiveMinimum === undefined ? 1 : exclusiveMinimum + 1));
