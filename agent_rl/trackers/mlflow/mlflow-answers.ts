import { isRecord } from '../../core/is-record.ts';
import type { HttpAnswer } from '../../http/http-client.ts';

/** The parts of an MLflow run needed to resume it. */
export interface MlflowRun {
  id: string;
  /** Where its artifacts are put over HTTP; absent where the server leaves that to its clients. */
  artifacts: string | undefined;
  deleted: boolean;
  /** By name, the last step. */
  metrics: readonly (readonly [name: string, step: number])[];
  params: ReadonlyMap<string, string>;
}

const longestShown = 300;
const proxied = 'mlflow-artifacts:/';

/** The reason why MLflow refused a request, and what to do about it. */
export function refusalText(answer: HttpAnswer): string {
  const { json, text } = answer;
  const said = isRecord(json) ? `${String(json['error_code'])}: ${String(json['message'])}` : text;
  const shown = said.replaceAll(/\s+/g, ' ').trim().slice(0, longestShown);
  return `${shown || 'nothing'}. ${remedyOf(answer)}`;
}

function remedyOf(answer: HttpAnswer): string {
  const { status } = answer;
  if (status === 401 || status === 403)
    return 'Set tokenEnv, or username and passwordEnv, for a user with write access';
  if (codeOf(answer) === undefined)
    return 'The server may not be MLflow. Set url to the address of the start page of MLflow';
  return status >= 500 ? "See the server's log" : 'Fix the problem that the message names';
}

/** MLflow's code of a refusal; undefined where it is not MLflow that answers. */
export const codeOf = ({ json }: HttpAnswer): string | undefined =>
  isRecord(json) && typeof json['error_code'] === 'string' ? json['error_code'] : undefined;

export function partOf(json: unknown, name: string): Readonly<Record<string, unknown>> {
  const part = isRecord(json) ? json[name] : undefined;
  if (isRecord(part)) return part;
  throw new Error(
    `The answer of MLflow has no ${name}: ${JSON.stringify(json)?.slice(0, longestShown)}`,
  );
}

export function textOf(json: unknown, name: string): string {
  const text = isRecord(json) ? json[name] : undefined;
  if (typeof text === 'string') return text;
  throw new Error(
    `The answer of MLflow has no ${name}: ${JSON.stringify(json)?.slice(0, longestShown)}`,
  );
}

export function runOf(json: Readonly<Record<string, unknown>>): MlflowRun {
  const info = partOf(json, 'info');
  const data = isRecord(json['data']) ? json['data'] : {};
  const uri = String(info['artifact_uri']);
  return {
    id: textOf(info, 'run_id'),
    artifacts: uri.startsWith(proxied) ? uri.slice(proxied.length).replace(/^\/+/, '') : undefined,
    deleted: info['lifecycle_stage'] === 'deleted',
    // A step of 0 may be left out, as protocol buffers do.
    metrics: listOf(data['metrics']).map((one) => [String(one['key']), Number(one['step'] ?? 0)]),
    params: new Map(
      listOf(data['params']).map((one) => [
        String(one['key']),
        typeof one['value'] === 'string' ? one['value'] : '',
      ]),
    ),
  };
}

const listOf = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? (value as unknown[]).filter(isRecord) : [];
