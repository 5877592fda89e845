/** Whether a value is an object, and neither null nor a list, such as an object of parsed JSON. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
