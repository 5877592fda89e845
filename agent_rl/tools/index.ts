import { CalculatorTool } from './calculator/calculator-tool.ts';
import { CodeExecTool } from './code-exec/code-exec-tool.ts';
import { HttpTool } from './http/http-tool.ts';
import { McpTools } from './mcp/mcp-tools.ts';
import { OpenPageTool } from './open-page/open-page-tool.ts';
import { SearchTool } from './search/search-tool.ts';

/** Tools that ship with the framework. */
export const builtinTools = [
  CodeExecTool,
  CalculatorTool,
  SearchTool,
  OpenPageTool,
  HttpTool,
  McpTools,
] as const;
