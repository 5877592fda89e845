import { lastLine } from '../last-line.ts';

/** Of the supervisor that did not start. */
interface Context {
  python: string;
  preload: readonly string[];
}

const forbidden = ([, what = '']: RegExpExecArray): string =>
  `this kernel or container forbids namespaces (${what}). Allow them: user namespaces for a user, CAP_SYS_ADMIN for root in a container`;

/** What Python says of a failed start, and the sentence for the user. */
const known: readonly [RegExp, (match: RegExpExecArray, context: Context) => string][] = [
  [
    /^ModuleNotFoundError: No module named '([^']+)'/,
    ([, name = ''], { python, preload }) =>
      preload.includes(name)
        ? `sandbox.preload names ${name}, which ${python} does not have. Install it for this Python, or name another in sandbox.python`
        : `${python} lacks the module ${name}. Name a whole Python in sandbox.python`,
  ],
  [/^(?:OSError|PermissionError): .*?((?:unshare|clone|mount|pivot_root)\b[^:]*: .+)$/, forbidden],
  [/^PermissionError: .*'(.*(?:uid_map|gid_map|setgroups))'$/, forbidden],
  [
    /^FileNotFoundError: .*'(.*agent_rl\/sandbox\/.*)'$/,
    ([, path]) => `the package lacks ${path}. Install it again`,
  ],
  [/^(?:RuntimeError|Unavailable|UnknownMachine): (.+)$/, ([, what = '']) => what],
];

/** Why a supervisor does not start, in a sentence without its end. `failed` may be a whole traceback. */
export function startProblem(failed: string, context: Context): string {
  const last = lastLine(failed).trim();
  for (const [pattern, sentence] of known) {
    const match = pattern.exec(last);
    if (match !== null) return sentence(match, context);
  }
  return last === '' ? 'its supervisor ended without a message' : last.replace(/\.$/, '');
}
