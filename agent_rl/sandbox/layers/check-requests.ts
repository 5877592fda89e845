import type {
  RequestKind,
  RunResult,
  SandboxRequest,
  SandboxSession,
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { isPlainObject, seen } from '../../core/python/seen-value.ts';
import {
  filesProblem,
  callsProblem,
  fieldsProblem,
  type Problem,
  programProblem,
  testsProblem,
  limitsProblem,
  refuse,
  secondsProblem,
  seedProblem,
} from '../requests/request-problems.ts';
import { bareResult, resultWithoutOutput } from '../requests/result-without-output.ts';
import type { Layer } from './layer.ts';

/**
 * Checks each request so that backends need not: an invalid request is a `bad_request` on every backend, with a message
 * that names the field, its value and what is allowed. Opening a session has no result, so there `CONFIG_INVALID` is
 * thrown.
 */
export function checkRequests(level: string): Layer {
  const refused = (problem: string): RunResult =>
    resultWithoutOutput('bad_request', problem, level);
  return {
    execute: (next) => async (request, signal) => {
      const problem = requestProblem(request);
      if (problem !== undefined) return bareResult(kindOf(request), refused(problem));
      return next(request, signal);
    },
    openSession:
      (next) =>
      (request = {}) => {
        refuse(sessionProblem(request));
        const session = next(request);
        return {
          run: async (program, signal) => {
            const problem = sessionProgramProblem(program);
            // No program was run, so the session lives on.
            if (problem !== undefined) return { ...refused(problem), alive: true };
            return session.run(program, signal);
          },
          close: () => session.close(),
        };
      },
  };
}

const problemsOf: { [Kind in RequestKind]: (request: SandboxRequest<Kind>) => Problem } = {
  run: (request) =>
    commonProblem(request, ['kind', 'code', 'stdin', 'files']) ??
    programProblem(request) ??
    filesProblem(request.files),
  calls: (request) =>
    commonProblem(request, ['kind', 'code', 'entry', 'args']) ?? callsProblem(request),
  judge: (request) =>
    commonProblem(request, ['kind', 'code', 'tests']) ??
    programProblem(request) ??
    testsProblem(request.tests),
};

const isKind = (kind: unknown): kind is RequestKind =>
  typeof kind === 'string' && Object.hasOwn(problemsOf, kind);

/** The kind of an unchecked request. */
function kindOf<Kind extends RequestKind>(request: SandboxRequest<Kind>): Kind {
  const { kind }: { kind?: unknown } = isPlainObject(request) ? request : {};
  return (isKind(kind) ? kind : 'run') as Kind;
}

function requestProblem<Kind extends RequestKind>(request: SandboxRequest<Kind>): Problem {
  if (!isPlainObject(request)) return `the request must be an object, got ${seen(request)}`;
  const { kind } = request;
  if (isKind(kind)) return problemsOf[kind](request);
  return `kind is ${seen(kind)}; it must be one of ${Object.keys(problemsOf).join(', ')}`;
}

type SessionProgram = Parameters<SandboxSession['run']>[0];

const common = ['owner', 'limits', 'seed'] as const;

/** Problems of the fields that all requests share, and of unknown fields. */
function commonProblem(request: unknown, fields: readonly string[]): Problem {
  const problem = fieldsProblem('the request', request, [...fields, ...common]);
  if (problem !== undefined) return problem;
  const { owner = '', limits, seed } = request as Readonly<Record<string, unknown>>;
  if (typeof owner !== 'string') return `owner must be a string, got ${seen(owner)}`;
  return limitsProblem(limits) ?? seedProblem(seed);
}

function sessionProblem(request: SessionRequest): Problem {
  const problem = commonProblem(request, ['totalWallS']);
  if (problem !== undefined || request.totalWallS === undefined) return problem;
  return secondsProblem('totalWallS', request.totalWallS);
}

const sessionProgramProblem = (program: SessionProgram): Problem =>
  fieldsProblem('the request', program, ['code', 'stdin', 'limits']) ??
  limitsProblem(program.limits) ??
  programProblem(program);
