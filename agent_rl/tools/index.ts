import { CalculatorTool } from './calculator/calculator-tool.ts';
import { CodeExecTool } from './code-exec/code-exec-tool.ts';

export { CalculatorTool, CodeExecTool };

/** Tools that ship with the framework. */
export const builtinTools = [CodeExecTool, CalculatorTool] as const;
