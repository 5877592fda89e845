import { partsOf, pythonRepr, type PythonValue } from '../../core/python/python-value.ts';
import type { CodeExecInputs } from './code-exec-tool.ts';

/** A line of Python that prints what a function returns. */
export function callLine({ entry, args }: NonNullable<CodeExecInputs['call']>): string {
  const literals = (args as readonly PythonValue[]).map(literalOf).join(', ');
  return `print(repr(${entry}(${literals})))`;
}

/** A value as an expression: its repr, but for the floats that have no literal, wherever they are in it. */
function literalOf(value: PythonValue): string {
  const parts = partsOf(value);
  if (parts.type === 'float' && !Number.isFinite(parts.value)) return `float('${parts.value}')`;
  if ('pairs' in parts) {
    return `{${parts.pairs.map(([key, item]) => `${literalOf(key)}: ${literalOf(item)}`).join(', ')}}`;
  }
  if (!('items' in parts)) return pythonRepr(value);
  const list = `[${parts.items.map(literalOf).join(', ')}]`;
  return parts.type === 'list' ? list : `${parts.type}(${list})`;
}
