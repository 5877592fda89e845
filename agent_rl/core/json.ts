/** A JSON Schema object, as TypeBox builds it. */
export type JsonSchema = Readonly<Record<string, unknown>>;
