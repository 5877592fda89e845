import { isRecord } from '../../agent_rl/core/is-record.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import { isMark, marked, unmarked, withoutMarks } from '../../agent_rl/core/python/python-json.ts';
import type { ToolDefinition } from '../../model/text/chat-template.ts';

/** Says that something is wrong with a value: where in it, and what. */
export type Report = (path: string, text: string) => void;

const expected =
  'expected {"name", "description", "parameters"}, or {"type": "function", "function": {...}} around it';

/**
 * Tools that are described and never run, read with marks for their numbers, each `{"type": "function", "function": {...}}` or what stands in its
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
      const { name, description } = tool;
      const { value: parameters, written } = withoutMarks(tool.parameters);
      return [{ name, description, parameters, written }];
    }
    report(`tools[${index}]`, `is ${unmarked(showValue(item))}; ${expected}.`);
    return [];
  });
}

/** A tool as rows have it, in the form of the OpenAI API, with marks for its numbers. */
export const toolRow = ({ name, description, parameters: value, written }: ToolDefinition) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: marked(value, written),
  },
});

const isText = (value: unknown): boolean => typeof value === 'string' && !isMark(value);

const isDefinition = (tool: unknown): tool is ToolDefinition =>
  isRecord(tool) &&
  isText(tool['name']) &&
  isText(tool['description']) &&
  isRecord(tool['parameters']);
