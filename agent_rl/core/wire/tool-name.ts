/** As models call tools: `get-sum` and `getSum` are `get_sum`. */
export const toolName = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '') || 'tool';
