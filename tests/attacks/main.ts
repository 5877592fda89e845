import { writeFileSync } from 'node:fs';

import yargs from 'yargs';

import { flagProblem } from './choose.ts';
import { identities, type Identity, possibleIdentities, runAs } from './identity.ts';
import { type SuiteReport, totalOf } from './report.ts';

/*
 * Attacks every sandbox of this machine, as root and as an ordinary user: `npm run test:sandbox -- [flags]`. Needs a
 * build. Exits with 1 when an attack was not contained.
 */
const flags = await yargs(process.argv.slice(2))
  .scriptName('npm run test:sandbox --')
  .options({
    backend: { type: 'string', array: true, default: [], describe: "Part of a backend's name" },
    case: { type: 'string', array: true, default: [], describe: 'Part of the name of an attack' },
    identity: { choices: identities, array: true, describe: 'User of the sandbox; default: all' },
    lanes: { type: 'string', default: '2', requiresArg: true, describe: 'Attacks in parallel' },
    json: { type: 'string', describe: 'File for the findings as JSON' },
  })
  .strict()
  .parseAsync();

const possible = possibleIdentities();
const wanted: readonly Identity[] = flags.identity ?? possible;
const choice = { backends: flags.backend, cases: flags.case };
const other = wanted.find((identity) => !possible.includes(identity));
const problem =
  flagProblem({ ...choice, lanes: flags.lanes }) ??
  (other === undefined ? undefined : `--identity: only root can run the suite as ${other}.`);

if (problem === undefined) await run();
else {
  console.error(problem);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const reports: SuiteReport[] = [];
  for (const identity of wanted) {
    reports.push(...(await runAs(identity, { ...choice, lanes: Number(flags.lanes) })));
  }
  for (const identity of identities) {
    if (!wanted.includes(identity)) console.log(`Not run as ${identity}.`);
  }
  if (flags.json !== undefined)
    writeFileSync(flags.json, `${JSON.stringify(reports, undefined, 2)}\n`);
  const { passed, failed } = totalOf(reports);
  console.log(`${passed} passed, ${failed} failed.`);
  // A suite that ran nothing has not passed.
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
