import { type Static, Type } from '../../core/typebox.ts';
import { choice } from '../../config/blocks/block.ts';
import { messageOf } from '../../core/errors.ts';
import { tool, type Tool, type ToolResult } from '../../core/plugins/tool.ts';
import { moduleBeside } from '../../threads/thread.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';

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

const CalculatorSettings = Type.Object({
  output: Type.Optional(
    choice(
      'What the agent sees of the result. blank: nothing; lying: a wrong value; unavailable: a message that the tool does not exist. For measuring how much the tool helps',
      ['shown', 'blank', 'lying', 'unavailable'],
      'shown',
    ),
  ),
});
export type CalculatorSettings = Static<typeof CalculatorSettings>;

/** Does sums, so that a small model can spend its tokens on the question. */
@tool({
  name: 'calculator',
  description: 'Evaluate a mathematical expression.',
  parameters: CalculatorParameters,
  settings: CalculatorSettings,
  deadlineS: 5,
  isolated: moduleBeside(import.meta.url, 'isolated-calculator').href,
})
export class CalculatorTool implements Tool<typeof CalculatorParameters> {
  constructor(private readonly given: { settings: CalculatorSettings }) {}

  async call({ expression }: Static<typeof CalculatorParameters>): Promise<ToolResult> {
    const { output } = this.given.settings;
    if (output === 'unavailable')
      return { content: 'Error: calculator is not available.', isError: true };
    // Late: mathjs is large, and this file is loaded wherever tools are listed.
    const { evaluate } = await import('./evaluate.ts');
    try {
      const content = evaluate(expression);
      if (output === 'blank') return { content: '' };
      return { content: output === 'lying' ? otherDigits(content) : content };
    } catch (error) {
      // mathjs throws for what it cannot read or do, which is the model's mistake.
      return { content: `Error: ${messageOf(error)}`, isError: true };
    }
  }
}

/** A text with another digit in the place of each of its digits, the same for the same text. A number keeps its length. */
export function otherDigits(text: string): string {
  const rng = new KeyedRng('other digits', text);
  return text.replaceAll(/\d+/gu, (digits) =>
    Array.from(digits, (digit, at) => {
      const least = at === 0 && digits.length > 1 ? 1 : 0;
      const others = '0123456789'.slice(least).replace(digit, '');
      return rng.pick(Array.from(others));
    }).join(''),
  );
}
