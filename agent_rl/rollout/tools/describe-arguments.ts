import type { TSchema } from 'typebox';

interface ObjectSchema {
  properties?: Readonly<Record<string, { type?: string; enum?: readonly unknown[] }>>;
  required?: readonly string[];
}

/** A tool's arguments in one line for the model: `code (string), timeout (number, optional)`. */
export function describeArguments(parameters: TSchema): string {
  // A TypeBox object is a JSON Schema object; other schemas have no properties and give an empty list.
  const { properties = {}, required = [] } = parameters as ObjectSchema;
  const described = Object.entries(properties).map(([name, { type, enum: values }]) => {
    const kind =
      values === undefined
        ? (type ?? 'any')
        : values.map((value) => JSON.stringify(value)).join(' | ');
    return `${name} (${kind}${required.includes(name) ? '' : ', optional'})`;
  });
  return described.join(', ') || 'none';
}
