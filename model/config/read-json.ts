import { readFile } from 'node:fs/promises';

import { AgentRlError, messageOf, type ErrorCode } from '../../agent_rl/core/errors.ts';

/** A JSON file of a model folder. @throws AgentRlError with the given code when it is absent or broken. */
export async function readJson(file: string, code: ErrorCode): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AgentRlError(code, `${file} cannot be read (${messageOf(cause)}).`, { cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AgentRlError(code, `${file} is not JSON (${messageOf(cause)}).`, { cause });
  }
}
