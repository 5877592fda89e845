import { isRecord } from '../../core/is-record.ts';
import type { FoundTool } from '../../core/plugins/tool.ts';
import { showValue } from '../../core/show-value.ts';
import { toolName } from '../../core/wire/tool-name.ts';
import type { TSchema } from '../../core/typebox.ts';
import type { OpenEnvSession } from './session.ts';
import type { OpenEnvSettings } from './settings.ts';
import { turnTitle } from './turn-schema.ts';

/**
 * How the environment of a server is played. `turns`: an action is a whole turn, with its calls, as `agent-rl serve --env`
 * wants it. `tools`: an action calls a tool that the server lists (MCP). `call`: the tool `act`, whose arguments are the
 * action. `text`: a message, which is the action's field of this name.
 */
export type Acting =
  | { readonly by: 'turns' | 'tools' | 'call'; readonly tools: readonly FoundTool[] }
  | { readonly by: 'text'; readonly field: string; readonly tools: readonly [] };

type Properties = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Longer than `stepS`, so that its error is the one that is reported. */
const graceS = 5;

/** Whether a field says what an action is, and holds nothing of it. */
const isFormal = ([name, schema]: [string, Properties[string]]): boolean =>
  name === 'metadata' || (name === 'type' && 'const' in schema);

/** @param open a session, to ask for tools */
export async function actingOn(
  action: Readonly<Record<string, unknown>>,
  settings: OpenEnvSettings,
  open: () => Promise<OpenEnvSession>,
): Promise<Acting> {
  const isOfTurns = action['title'] === turnTitle;
  const found = (
    tool: Pick<FoundTool, 'of' | 'name' | 'description' | 'parameters'>,
  ): FoundTool => ({
    ...tool,
    // Where turns are played, the server has cut its tools' results.
    ...(isOfTurns && { maxContentChars: 1e6 }),
    keepsState: true,
    deadlineS: settings.stepS + graceS,
    onInterrupt: 'fail',
  });
  if (!isRecord(action['properties']))
    throw new Error(
      `the server's action ${showValue(action)} has no properties; expected an object with fields.`,
    );
  const properties = action['properties'] as Properties;
  if (isOfTurns) return { by: 'turns', tools: toolsOfTurn(properties).map(found) };
  if ('tool_name' in properties && 'arguments' in properties)
    return { by: 'tools', tools: (await listedTools(await open())).map(found) };
  const own = Object.entries(properties).filter((entry) => !isFormal(entry));
  const [field, { type }] = own[0] ?? ['', {}];
  const isText = own.length === 1 && type === 'string';
  if (isText) return { by: 'text', field, tools: [] };
  const { $schema: _, $id: __, title: ___, description, required, ...schema } = action;
  const fields = Object.fromEntries(own);
  const needed = Array.isArray(required) ? required.filter((one) => String(one) in fields) : [];
  const act = {
    of: 'act',
    name: 'act',
    description:
      `Acts in the environment. ${typeof description === 'string' ? description : ''}`.trim(),
    parameters: { ...schema, properties: fields, required: needed },
  };
  return { by: 'call', tools: [found(act)] };
}

/** The tools in the schema of a turn. */
function toolsOfTurn({ tool_calls: calls }: Properties) {
  const items = isRecord(calls) && isRecord(calls['items']) ? (calls['items']['anyOf'] ?? []) : [];
  return (
    items as { description: string; properties: { name: { const: string }; arguments: TSchema } }[]
  ).map(({ description, properties: { name, arguments: parameters } }) => ({
    of: name.const,
    name: name.const,
    description,
    parameters,
  }));
}

async function listedTools(session: OpenEnvSession) {
  const { signal } = new AbortController();
  try {
    const { observation } = await session.observe('step', { type: 'list_tools' }, signal);
    const { tools } = observation;
    if (!Array.isArray(tools) || tools.length === 0 || !tools.every(isRecord))
      throw new Error(`the server lists ${showValue(tools)}; expected tools.`);
    return tools.map(({ name, description, input_schema: parameters }) => ({
      of: String(name),
      name: toolName(String(name)),
      description: typeof description === 'string' ? description : String(name),
      parameters: parameters ?? { type: 'object' },
    }));
  } finally {
    await session.close();
  }
}

/**
 * What the policy reads of an observation: its text where it has one field, otherwise JSON. Empty where it says nothing.
 *
 * @throws Error where it has none of the fields that are to be shown
 */
export function observationText(
  observation: Readonly<Record<string, unknown>>,
  show?: readonly string[],
): string {
  const shown = Object.entries(observation).filter(
    ([name]) => show?.includes(name) ?? name !== 'metadata',
  );
  if (show !== undefined && shown.length === 0)
    throw new Error(
      `the observation has none of ${show.join(', ')} (environment.show); it has ${Object.keys(observation).join(', ')}.`,
    );
  const [[, only] = []] = shown;
  if (shown.length === 1 && typeof only === 'string') return only;
  return shown.length === 0 ? '' : JSON.stringify(Object.fromEntries(shown));
}
