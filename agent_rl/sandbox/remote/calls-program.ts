import type { CallResult, CallsRequest, SandboxFiles } from '../../core/services/sandbox.ts';
import { readHarness } from '../harness/read-harness.ts';
import { readCallResults } from '../requests/read-call-results.ts';

const job = 'job.json';
/** What the harness says of a program that ran out of memory, see `harness/program.py`. */
const memoryErrorCode = 256;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The harness and what is to be called, as files beside a program. Nothing of it is secret. */
export function callsFiles({ code, entry, args, seed = 0 }: CallsRequest): SandboxFiles {
  const harness = readHarness().map(([name, source]) => [`harness/${name}.py`, base64(source)]);
  // Arguments stay text: the harness reads them its own way.
  const settings = { code, entry, args: JSON.stringify(args), seed };
  return { ...Object.fromEntries(harness), [job]: base64(JSON.stringify(settings)) };
}

/** A program that makes the calls and writes one line of JSON for each into a file. */
export const callsProgram = (results: string): string => `import json, os, sys
sys.path.insert(0, os.getcwd())
from harness.program import calls
with open(${JSON.stringify(job)}, encoding='utf-8') as file: job = json.load(file)
out = open(${JSON.stringify(results)}, 'w', encoding='ascii')
def emit(text, write=out.write, flush=out.flush):
    write(text + '\\n')
    flush()
leave = os._exit
code = calls(job['code'], job['entry'], job['args'], job['seed'], emit)
if code == ${memoryErrorCode}: emit('{"memory":true}')
leave(min(code, 255))
`;

/** The lines of the file, or `undefined` when our own harness did not write them. */
export function readResultLines(
  text: string,
  count: number,
): { results: readonly CallResult[]; outOfMemory: boolean } | undefined {
  const lines = text.split('\n').slice(0, -1);
  const outOfMemory = lines.at(-1) === '{"memory":true}';
  const results = readCallResults(`[${(outOfMemory ? lines.slice(0, -1) : lines).join(',')}]`);
  if (results === undefined || results.length > count) return undefined;
  return { results, outOfMemory };
}
