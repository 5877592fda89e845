import type { Class } from './given.ts';
import {
  type InputOf,
  type InputSchema,
  readSchema,
  type ReadSchema,
} from '../wire/standard-schema.ts';
import { AgentRlError } from '../errors.ts';
import { isRecord } from '../is-record.ts';
import { type Tool, type ToolContext, type ToolResult, tools, type ToolSpec } from './tool.ts';

/** A tool as a function. */
export interface FunctionTool<Schema extends InputSchema> extends Pick<
  ToolSpec,
  'name' | 'description' | 'deadlineS' | 'maxContentChars'
> {
  /** A JSON Schema of type object, TypeBox's too, or a schema of zod, valibot, ArkType (Standard Schema). */
  readonly inputSchema: Schema;
  /**
   * Runs a call. The model sees a string as it is; `{ content, isError?, data? }` is a `ToolResult`; of an async
   * iterable only the last value counts; anything else is shown as JSON.
   */
  readonly execute: (input: InputOf<Schema>, context: ToolContext) => unknown;
}

/** A class that is marked as a tool. */
export type ToolPlugin = Class<Tool>;

/**
 * Makes a tool plugin from a function, for `trainAgent` or to export from a plugin file.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` for a schema that cannot be used, or without `execute`
 * @example
 * ```ts
 * export const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 * ```
 */
export function defineTool<const Schema extends InputSchema>({
  inputSchema,
  execute,
  ...face
}: FunctionTool<Schema>): ToolPlugin {
  if (typeof execute !== 'function')
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `Tool "${face.name}" has no execute. Add a function that takes the input and returns the result for the model.`,
    );
  const schema = readSchema(inputSchema, `Tool "${face.name}"`);
  return toolOf(face, schema, (input, context) => execute(input as InputOf<Schema>, context));
}

/** A tool plugin of a schema that was read. */
export function toolOf(
  face: Omit<ToolSpec, 'parameters'>,
  { json, parse }: ReadSchema,
  execute: (input: unknown, context: ToolContext) => unknown,
): ToolPlugin {
  class DefinedTool implements Tool {
    async call(args: unknown, context: ToolContext): Promise<ToolResult> {
      const parsed = await parse(args);
      if ('problem' in parsed) return { content: `Error: ${parsed.problem}`, isError: true };
      return resultOf(await lastOf(execute(parsed.value, context)));
    }
  }
  return tools.mark({ ...face, parameters: json })(DefinedTool);
}

async function lastOf(output: unknown): Promise<unknown> {
  const value = await output;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const one of value as AsyncIterable<unknown>) last = one;
  return last;
}

const resultKeys: ReadonlySet<string> = new Set(['content', 'isError', 'data', 'problem']);

function resultOf(output: unknown): ToolResult {
  if (typeof output === 'string') return { content: output };
  if (isResult(output)) return output;
  // JSON has nothing for undefined, and null for what is not a finite number.
  const content = typeof output === 'number' ? String(output) : (JSON.stringify(output) ?? '');
  return { content, data: output };
}

const isResult = (output: unknown): output is ToolResult =>
  isRecord(output) &&
  typeof output['content'] === 'string' &&
  Object.keys(output).every((key) => resultKeys.has(key));
