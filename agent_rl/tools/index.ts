import { CalculatorTool } from './calculator/calculator-tool.ts';
import { CodeExecTool } from './code-exec/code-exec-tool.ts';
import { SearchTool } from './search/search-tool.ts';

export { CalculatorTool, CodeExecTool, SearchTool };

/** Tools that ship with the framework. */
export const builtinTools = [CodeExecTool, CalculatorTool, SearchTool] as const;
