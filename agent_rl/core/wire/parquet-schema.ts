import type { SchemaElement } from 'hyparquet';

/** Elements of a Parquet schema; every one may be absent in a row. */
export const optional = { repetition_type: 'OPTIONAL' } as const;

export const textOf = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  ...optional,
});

/** @param element `element`, with the elements below it */
export const listOf = (name: string, ...element: readonly SchemaElement[]): SchemaElement[] => [
  { name, ...optional, num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...element,
];
