import { Type } from '../../core/typebox.ts';
import type { BareCall } from '../../core/plugins/tool-call-format.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';

/** Settings of a format in which code itself is a call. */
export const codeTargetSettings = Type.Object({
  tool: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Tool that receives the code; by default inferred from the run's tools",
    }),
  ),
  argument: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Parameter that receives the code; by default the only required string',
    }),
  ),
});

export interface CodeTargetSettings {
  tool?: string;
  argument?: string;
}

/** Where code that the model writes goes. */
export interface CodeTarget {
  tool: string;
  argument: string;
}

export const codeCall = ({ tool, argument }: CodeTarget, code: string): BareCall => ({
  name: tool,
  arguments: { [argument]: code },
});

/** The code in a call of the target, undefined for other calls. */
export function codeOf(
  { name, arguments: args }: BareCall,
  { tool, argument }: CodeTarget,
): string | undefined {
  const code = args[argument];
  const only = Object.keys(args).length === 1;
  return name === tool && only && typeof code === 'string' ? code : undefined;
}

interface ObjectSchema {
  properties?: Readonly<Record<string, { type?: unknown }>>;
  required?: readonly string[];
}

/** Names of parameters that may receive code: text, and required alone. */
function soleText({ parameters }: ToolSpec): string | undefined {
  const { properties = {}, required = [] } = parameters as ObjectSchema;
  const [name] = required;
  return required.length === 1 && name !== undefined && properties[name]?.type === 'string'
    ? name
    : undefined;
}

/** The tool and parameter that receive code, or the reason why they are unknown. */
export function codeTarget(
  tools: readonly ToolSpec[],
  { tool, argument }: CodeTargetSettings,
): CodeTarget | string {
  const named = tool === undefined ? tools : tools.filter(({ name }) => name === tool);
  const known = tools.map(({ name }) => name).join(', ') || 'none';
  const hint = 'Set tool and argument of policy.toolCallFormat';
  if (named.length === 0) {
    return tool === undefined
      ? 'the run has no tools, so nothing can be given the code'
      : `no tool of this run is named "${tool}" (tools: ${known})`;
  }
  const candidates = named.flatMap((one): CodeTarget[] => {
    const parameter = argument ?? soleText(one);
    const { properties = {} } = one.parameters as ObjectSchema;
    const isText = parameter !== undefined && properties[parameter]?.type === 'string';
    return isText ? [{ tool: one.name, argument: parameter }] : [];
  });
  const [first, second] = candidates;
  if (first === undefined) {
    const wanted =
      argument === undefined ? 'one required parameter, a text' : `a text "${argument}"`;
    return `no tool that could be given the code (${named.map(({ name }) => name).join(', ')}) has ${wanted}. ${hint}`;
  }
  if (second === undefined) return first;
  const several = candidates.map((one) => `${one.tool}.${one.argument}`).join(', ');
  return `several tools could be given the code: ${several}. ${hint}`;
}
