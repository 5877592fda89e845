import { tool, type Tool, type ToolResult, Type } from 'agent_rl/plugin';

import { convert } from './units.ts';

const parameters = Type.Object(
  {
    value: Type.Number(),
    from: Type.String({ description: 'A unit, such as inches' }),
    to: Type.String({ description: 'A unit of the same kind' }),
  },
  { additionalProperties: false },
);

/** What the model can call. It is not expected to know these factors: it has to ask. */
@tool({ name: 'convert', description: 'Convert a value from one unit to another.', parameters })
export class ConvertTool implements Tool<typeof parameters> {
  async call({
    value,
    from,
    to,
  }: {
    value: number;
    from: string;
    to: string;
  }): Promise<ToolResult> {
    const content = convert(value, from, to);
    // Not thrown: the model reads this and may try again.
    if (content === undefined) {
      return { content: `Error: ${from} cannot be converted to ${to}.`, isError: true };
    }
    return { content };
  }
}
