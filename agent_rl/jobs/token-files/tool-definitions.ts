import { readFileSync } from 'node:fs';

import { showValue } from '../../core/show-value.ts';
import { isRecord } from '../../core/is-record.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import type { Report } from './input-rows.ts';

type ToolDefinition = Pick<ToolSpec, 'name' | 'description' | 'parameters'>;

const expected =
  'expected {"name", "description", "parameters"}, or that as the "function" of {"type": "function"}';

/**
 * Tools that are described and never run, each `{"type": "function", "function": {...}}` or what stands in its
 * `function`: a name, a description and a JSON Schema of the parameters.
 */
export function toolDefinitions(value: unknown, report: Report): readonly ToolDefinition[] {
  if (!Array.isArray(value)) {
    report('tools', `is ${showValue(value)}; expected a list of tools.`);
    return [];
  }
  return value.flatMap((item: unknown, index) => {
    const tool = isRecord(item) && item['type'] === 'function' ? item['function'] : item;
    if (isDefinition(tool)) {
      const { name, description, parameters } = tool;
      return [{ name, description, parameters }];
    }
    report(`tools[${index}]`, `is ${showValue(item)}; ${expected}.`);
    return [];
  });
}

/** The tools of a JSON file. @throws AgentRlError `CONFIG_INVALID`, every problem at once. */
export function readToolFile(file: string): readonly ToolDefinition[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new AgentRlError('CONFIG_INVALID', `--tools ${file}: ${messageOf(cause)}.`, { cause });
  }
  const problems: string[] = [];
  const tools = toolDefinitions(value, (path, text) => problems.push(`${path} ${text}`));
  if (problems.length === 0) return tools;
  throw new AgentRlError('CONFIG_INVALID', `--tools ${file}: ${problems.join('\n')}`);
}

const isDefinition = (tool: unknown): tool is ToolDefinition =>
  isRecord(tool) &&
  typeof tool['name'] === 'string' &&
  typeof tool['description'] === 'string' &&
  isRecord(tool['parameters']);
