import type { RunFacts, RunHead } from '../../runs/view/api.ts';
import { useOwnAnswer } from '../data/use-answer.ts';
import { useSlowly } from '../data/use-slowly.ts';
import type { Route } from '../routing/route.ts';
import { Problem } from '../shell/problem.tsx';
import { Facts } from '../shell/table.tsx';
import { formatTime, formatValue, notRecorded } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';
import { ConfigTable } from './config-table.tsx';
import { FileTable } from './file-table.tsx';
import { TimelineView } from './timeline-view.tsx';

/** A run's settings and inputs, its files, and how it spent its time. */
export function Run({ run, route }: { run: RunHead; route: Route }) {
  const version = useSlowly(`${run.iteration} ${run.state} ${run.updatedAt}`);
  const { answer: facts, problem } = useOwnAnswer<RunFacts>(`/api/runs/${run.id}`, version);
  return (
    <div class="run-facts">
      <Problem text={problem} />
      {facts === undefined && problem === undefined && <p class="waiting">Reading the run …</p>}
      {facts && (
        <>
          <Sessions facts={facts} />
          <TimelineView run={run} route={route} />
          <ConfigTable rows={facts.config} />
          <FileTable files={facts.files} checkpoints={facts.checkpoints} />
          <Json title="Inputs: task and model hashes, machines" value={facts.inputs} />
          <Json title="Summary" value={facts.summary} />
          <section aria-label="Log">
            <h2>Log</h2>
            {facts.log.length === 0 ? (
              <p class="note">{notRecorded}</p>
            ) : (
              <PlainText text={facts.log.join('\n')} />
            )}
          </section>
        </>
      )}
    </div>
  );
}

function Sessions({ facts: { head, sessions } }: { facts: RunFacts }) {
  const commands = sessions.map(
    ({ startedAt, command, versions }) =>
      [
        `command, ${formatTime(startedAt)}`,
        `${command.join(' ')}\n${versionText(versions)}`,
      ] as const,
  );
  const rows: readonly (readonly [string, string])[] = [
    ['folder', head.folder],
    ['state', head.stateWhy === null ? head.state : `${head.state}: ${head.stateWhy}`],
    ['started', formatTime(head.startedAt)],
    ['updated', formatTime(head.updatedAt)],
    ...(commands.length === 0 ? [['command', notRecorded] as const] : commands),
  ];
  return (
    <section aria-label="Run">
      <h2>{escapeUnseen(head.name)}</h2>
      <Facts rows={rows} />
    </section>
  );
}

const versionText = (versions: Readonly<Record<string, string>>): string =>
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');

function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      {value === null ? <p class="note">{notRecorded}</p> : <PlainText text={formatValue(value)} />}
    </details>
  );
}
