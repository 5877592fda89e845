/** What the calculator's thread imports: the tool, and mathjs before the deadline of its first call begins. */
import './evaluate.ts';

export { CalculatorTool } from './calculator-tool.ts';
