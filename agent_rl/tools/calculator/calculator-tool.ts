import { type Static, Type } from 'typebox';

import { messageOf } from '../../core/errors.ts';
import { tool, type Tool, type ToolResult } from '../../core/plugins/tool.ts';

const CalculatorParameters = Type.Object(
  {
    expression: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Such as (3 + 4) * 2 or sqrt(2) ^ 3',
    }),
  },
  { additionalProperties: false },
);

/** Does sums, so that a small model can spend its tokens on the question. */
@tool({
  name: 'calculator',
  description: 'Evaluate a mathematical expression.',
  parameters: CalculatorParameters,
  deadlineS: 5,
  isolated: import.meta.url,
})
export class CalculatorTool implements Tool<typeof CalculatorParameters> {
  async call({ expression }: Static<typeof CalculatorParameters>): Promise<ToolResult> {
    // Late: mathjs is large, and this file is loaded wherever tools are listed.
    const { evaluate } = await import('./evaluate.ts');
    try {
      return { content: evaluate(expression) };
    } catch (error) {
      // mathjs throws for what it cannot read or do, which is the model's mistake.
      return { content: `Error: ${messageOf(error)}`, isError: true };
    }
  }
}
