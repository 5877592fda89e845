import { readFileSync } from 'node:fs';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { readMarked, unmarked } from '../../core/python/python-json.ts';
import { writeFileAtomic } from '../../telemetry/index.ts';
import { toolDefinitions, toolRow } from '../../../dataset/demonstrations/tool-definitions.ts';
import type { ToolDefinition } from '../../../model/text/chat-template.ts';

/**
 * The tools of a JSON file.
 *
 * @param named what the file is called in messages
 * @throws AgentRlError `CONFIG_INVALID`, every problem at once.
 */
export function readToolFile(file: string, named = `--tools ${file}`): readonly ToolDefinition[] {
  let value: unknown;
  try {
    value = readMarked(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new AgentRlError('CONFIG_INVALID', `${named}: ${messageOf(cause)}.`, { cause });
  }
  const problems: string[] = [];
  const tools = toolDefinitions(value, (path, text) => problems.push(`${path} ${text}`));
  if (problems.length === 0) return tools;
  throw new AgentRlError('CONFIG_INVALID', `${named}: ${problems.join('\n')}`);
}

/** Writes tools in the form of the OpenAI API. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export const writeToolFile = (file: string, tools: readonly ToolDefinition[]): void =>
  writeFileAtomic(file, unmarked(`${JSON.stringify(tools.map(toolRow), null, 1)}\n`));
