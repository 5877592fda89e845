import type { Config } from '../config-schema.ts';

type SandboxSettings = Pick<Config['sandbox'], 'type'> &
  Partial<Pick<Config['sandbox'], 'url' | 'tokenEnv' | 'caFile' | 'python' | 'preload'>>;

/** What is wrong with one setting of `sandbox`, given its type. */
export interface SandboxProblem {
  setting: 'type' | 'url' | 'tokenEnv' | 'caFile' | 'python' | 'preload';
  /** Follows the name of the setting. Values are left out: an address may hold a password. */
  text: string;
}

const remedies = {
  remote: 'Start the server with it, or leave it out.',
  pyodide: 'Use a native sandbox, or leave it out.',
  own: 'Set sandbox.type to remote, or leave it out.',
} as const;

/** Settings that have no effect with the type, and those that it needs. */
export function sandboxProblems({
  type,
  url,
  tokenEnv,
  caFile,
  python,
  preload = [],
}: SandboxSettings): readonly SandboxProblem[] {
  const ofServers = { url, tokenEnv, caFile };
  const ofNative = { python, preload: preload.length > 0 ? preload : undefined };
  const idle =
    type === 'remote' ? ofNative : type === 'pyodide' ? { ...ofServers, ...ofNative } : ofServers;
  const problems = Object.entries(idle).flatMap(([setting, value]): SandboxProblem[] => {
    if (value === undefined) return [];
    const native = setting in ofNative;
    const remedy = remedies[!native ? 'own' : type === 'remote' ? 'remote' : 'pyodide'];
    const text = `has no effect with sandbox.type ${type}. ${remedy}`;
    return [{ setting: setting as SandboxProblem['setting'], text }];
  });
  if (type !== 'remote') return problems;
  if (url !== undefined) return [...problems, ...idleAuthorities(url, caFile)];
  const text =
    'is remote and sandbox.url is not set. Give the address of a server, such as http://127.0.0.1:8080.';
  return [...problems, { setting: 'type', text }];
}

/** Certificates are those of https: alone. */
function idleAuthorities(
  url: NonNullable<SandboxSettings['url']>,
  caFile: string | undefined,
): SandboxProblem[] {
  if (caFile === undefined || [url].flat().some((one) => /^https:/i.test(one))) return [];
  const text =
    'has no effect: no address of sandbox.url begins with https:. Serve with --tls-cert and --tls-key, or leave it out.';
  return [{ setting: 'caFile', text }];
}
