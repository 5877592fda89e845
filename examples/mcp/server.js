// An MCP server with one tool. Nothing here knows of training.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

import { search } from './search.js';

const server = new McpServer({ name: 'library', version: '1.0.0' });
server.registerTool(
  'search',
  {
    description: 'Search for passages that answer a question.',
    inputSchema: z.object({ query: z.string() }),
    annotations: { readOnlyHint: true },
  },
  ({ query }) => ({ content: [{ type: 'text', text: search(query) }] }),
);
await server.connect(new StdioServerTransport());
