/** What the calculator's thread imports: the tool, and mathjs before the deadline of its first call begins. */
export { CalculatorTool } from './calculator-tool.ts';
export { evaluate } from './evaluate.ts';
