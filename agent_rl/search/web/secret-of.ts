import { AgentRlError } from '../../core/errors.ts';

/**
 * The value of an environment variable that holds a secret; nothing when none is named.
 *
 * @throws AgentRlError `CONFIG_INVALID` when it is not set, is empty, or cannot stand in a header.
 */
export function secretOf(
  name: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  user: string,
): string | undefined {
  if (name === undefined) return undefined;
  const value = environment[name]?.trim() ?? '';
  if (value === '') {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${user} takes its key from the environment variable ${name}, which is not set. Set it, or replay a cassette.`,
    );
  }
  if (!/^[\x21-\x7E]+(?: [\x21-\x7E]+)*$/.test(value)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The environment variable ${name} of ${user} holds characters that no header may hold. Set it to the bare key.`,
    );
  }
  return value;
}
