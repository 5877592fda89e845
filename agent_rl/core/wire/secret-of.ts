import { AgentRlError, type ErrorCode } from '../errors.ts';

export interface SecretUse {
  /** Who needs it, for messages: 'web.provider brave'. */
  user: string;
  environment?: Readonly<Record<string, string | undefined>>;
  /** What to do when it is not set; 'Set it.' by default. */
  remedy?: string;
  fewestChars?: number;
  code?: ErrorCode;
}

/**
 * The secret in an environment variable, without white space around it.
 *
 * @throws AgentRlError `CONFIG_INVALID`, or the code given, when it is not set, is empty, too short, or cannot stand
 * in a header
 */
export function secretOf(
  variable: string,
  { user, environment = process.env, remedy = 'Set it.', fewestChars = 1, code }: SecretUse,
): string {
  const secret = environment[variable]?.trim() ?? '';
  const refused = (problem: string): AgentRlError =>
    new AgentRlError(
      code ?? 'CONFIG_INVALID',
      `${user} takes its key from the environment variable ${variable}, which ${problem}`,
    );
  if (secret === '') throw refused(`is not set. ${remedy}`);
  if (!/^[\x21-\x7E]+(?: [\x21-\x7E]+)*$/.test(secret))
    throw refused('has characters that are not allowed in a header. Set it to the bare key.');
  if (secret.length < fewestChars)
    throw refused(`has fewer than ${fewestChars} characters. Use a longer one.`);
  return secret;
}
