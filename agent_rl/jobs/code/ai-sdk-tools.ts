import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import { toolOf, type ToolPlugin } from '../../core/plugins/define-tool.ts';
import { type Parsed, readSchema, type ReadSchema } from '../../core/wire/standard-schema.ts';
import type { JsonSchema } from '../../core/plugins/tool.ts';

/** A tool as `tool()` of the Vercel AI SDK makes it: its name is the key it stands under. */
export interface AiSdkTool {
  readonly description?: unknown;
  readonly inputSchema: unknown;
  // Its second parameter differs from ours, and a tool that needs none of it takes any.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly execute?: ((input: any, options: any) => unknown) | undefined;
}

/** What `jsonSchema()` of the AI SDK makes. */
interface AiSdkSchema {
  readonly jsonSchema: JsonSchema | PromiseLike<JsonSchema>;
  readonly validate?: (
    value: unknown,
  ) => AiSdkValidation | undefined | PromiseLike<AiSdkValidation | undefined>;
}

type AiSdkValidation = { success: true; value: unknown } | { success: false; error: Error };

const schemaMark = Symbol.for('vercel.ai.schema');

/**
 * Tools of the AI SDK as plugins. `execute` is given the input and `{ abortSignal }` beside our own context; what the SDK
 * knows of its own conversation (`messages`, `toolCallId`) is not there.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` for a tool that nothing executes here, or whose schema cannot be used
 */
export async function aiSdkTools(
  tools: Readonly<Record<string, AiSdkTool>>,
): Promise<ToolPlugin[]> {
  const made: ToolPlugin[] = [];
  for (const [name, { description, inputSchema, execute }] of Object.entries(tools)) {
    const owner = `Tool "${name}"`;
    if (typeof execute !== 'function')
      throw new AgentRlError(
        'PLUGIN_LOAD_FAILED',
        `${owner} has no execute function, so a provider or client would run the tool. Training needs the results of the tool in this process: add an execute function.`,
      );
    if (typeof description !== 'string')
      throw new AgentRlError(
        'PLUGIN_LOAD_FAILED',
        `${owner} has no description. Add one, as a string: it tells the model when to use the tool.`,
      );
    const schema = await schemaOf(inputSchema, owner);
    made.push(
      toolOf({ name, description }, schema, (input, context) =>
        execute(input, { ...context, abortSignal: context.signal }),
      ),
    );
  }
  return made;
}

async function schemaOf(given: unknown, owner: string): Promise<ReadSchema> {
  // `lazySchema` of the SDK. A schema of ArkType is a function too, and says so.
  const schema: unknown =
    typeof given === 'function' && !('~standard' in given) ? (given as () => unknown)() : given;
  if (!isAiSdkSchema(schema)) return readSchema(schema, owner);
  const { json } = readSchema(await schema.jsonSchema, owner);
  return {
    json,
    parse: async (value): Promise<Parsed> => {
      const result = await schema.validate?.(value);
      if (result === undefined) return { value };
      return result.success ? { value: result.value } : { problem: result.error.message };
    },
  };
}

const isAiSdkSchema = (schema: unknown): schema is AiSdkSchema =>
  isRecord(schema) && schemaMark in schema;
