import { readFileSync } from 'node:fs';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { readMarked } from '../../core/python/python-json.ts';
import { toolDefinitions } from '../../../dataset/demonstrations/tool-definitions.ts';
import type { ToolDefinition } from '../../../model/text/chat-template.ts';

/** The tools of a JSON file. @throws AgentRlError `CONFIG_INVALID`, every problem at once. */
export function readToolFile(file: string): readonly ToolDefinition[] {
  let value: unknown;
  try {
    value = readMarked(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new AgentRlError('CONFIG_INVALID', `--tools ${file}: ${messageOf(cause)}.`, { cause });
  }
  const problems: string[] = [];
  const tools = toolDefinitions(value, (path, text) => problems.push(`${path} ${text}`));
  if (problems.length === 0) return tools;
  throw new AgentRlError('CONFIG_INVALID', `--tools ${file}: ${problems.join('\n')}`);
}
