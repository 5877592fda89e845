import { AgentRlError } from '../../core/errors.ts';

/** The token in an environment variable. @throws AgentRlError `CONFIG_INVALID` */
export function tokenOf(
  variable: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const token = environment[variable]?.trim() ?? '';
  if (/^[\x21-\x7E]{8,}$/.test(token)) return token;
  const wrong =
    token === '' ? 'is not set' : 'holds no token: 8 characters or more, without spaces';
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The environment variable ${variable}, named for the token of the sandbox's server, ${wrong}.`,
  );
}
