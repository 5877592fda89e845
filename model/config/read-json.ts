import { readFile } from 'node:fs/promises';

import { AgentRlError, messageOf, type ErrorCode } from '../../agent_rl/core/errors.ts';
import { JsonShape } from '../../agent_rl/core/wire/json-shape.ts';

/** The largest vocabularies with their merges have some two million. */
const mostValues = 2 ** 24;

/** A JSON file of a model folder. @throws AgentRlError with the given code when it is absent or broken. */
export async function readJson(file: string, code: ErrorCode): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AgentRlError(code, `${file} cannot be read (${messageOf(cause)}).`, { cause });
  });
  const problem = new JsonShape().add(Buffer.from(text)).problem(mostValues);
  if (problem !== undefined) throw new AgentRlError(code, `${file} ${problem}.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AgentRlError(code, `${file} is not JSON (${messageOf(cause)}).`, { cause });
  }
}
