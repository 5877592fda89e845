import type {
  JudgeRequest,
  RunRequest,
  Sandbox,
  SandboxSession,
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { seen } from '../../core/python/seen-value.ts';
import { limitsProblem, refuse, secondsProblem, seedProblem } from '../requests/limit-problems.ts';
import { fieldsProblem, type Problem } from '../requests/problem.ts';
import {
  callsProblem,
  filesProblem,
  programProblem,
  testsProblem,
} from '../requests/request-problems.ts';
import { resultWithoutOutput } from '../requests/result-without-output.ts';

/**
 * A sandbox that looks at each request before a backend does: one that cannot be run is `bad_request`, whatever the
 * backend, and its message names the field, what it holds and what is allowed.
 */
export class CheckedSandbox implements Sandbox {
  constructor(private readonly inner: Sandbox) {}

  run: Sandbox['run'] = async (request, signal) => {
    const problem = runProblem(request);
    if (problem !== undefined) return this.#refused(problem);
    return this.inner.run(request, signal);
  };

  calls: Sandbox['calls'] = async (request, signal) => {
    const problem = requestProblem(request, ['code', 'entry', 'args']) ?? callsProblem(request);
    if (problem !== undefined) return { ...this.#refused(problem), results: [] };
    return this.inner.calls(request, signal);
  };

  judge: Sandbox['judge'] = async (request, signal) => {
    const problem = judgeProblem(request);
    if (problem !== undefined) return { ...this.#refused(problem), verdicts: [] };
    return this.inner.judge(request, signal);
  };

  /** @throws AgentRlError `CONFIG_INVALID`: a session has no result to say it with. */
  openSession: Sandbox['openSession'] = (request = {}) => {
    refuse(sessionProblem(request));
    const session = this.inner.openSession(request);
    const run: SandboxSession['run'] = async (program, signal) => {
      const problem = sessionProgramProblem(program);
      // Nothing was run, so nothing ended.
      if (problem !== undefined) return { ...this.#refused(problem), alive: true };
      return session.run(program, signal);
    };
    return { run, close: () => session.close() };
  };

  capabilities: Sandbox['capabilities'] = () => this.inner.capabilities();

  close: Sandbox['close'] = () => this.inner.close();

  #refused(problem: string) {
    return resultWithoutOutput('bad_request', problem, this.capabilities().level);
  }
}

const common = ['owner', 'limits', 'seed'] as const;

/** Of what all requests have, and of fields that none of them has. */
function requestProblem(request: unknown, fields: readonly string[]): Problem {
  const problem = fieldsProblem('the request', request, [...fields, ...common]);
  if (problem !== undefined) return problem;
  const { owner = '', limits, seed } = request as Readonly<Record<string, unknown>>;
  if (typeof owner !== 'string') return `owner must be a string, got ${seen(owner)}`;
  return limitsProblem(limits) ?? seedProblem(seed);
}

const runProblem = (request: RunRequest): Problem =>
  requestProblem(request, ['code', 'stdin', 'files']) ??
  programProblem(request) ??
  filesProblem(request.files);

const judgeProblem = (request: JudgeRequest): Problem =>
  requestProblem(request, ['code', 'tests']) ??
  programProblem(request) ??
  testsProblem(request.tests);

function sessionProblem(request: SessionRequest): Problem {
  const problem = requestProblem(request, ['totalWallS']);
  if (problem !== undefined || request.totalWallS === undefined) return problem;
  return secondsProblem('totalWallS', request.totalWallS);
}

const sessionProgramProblem = (program: Pick<RunRequest, 'code' | 'stdin' | 'limits'>): Problem =>
  fieldsProblem('the request', program, ['code', 'stdin', 'limits']) ??
  limitsProblem(program.limits) ??
  programProblem(program);
