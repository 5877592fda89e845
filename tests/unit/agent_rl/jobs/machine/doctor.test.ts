import { expect, test } from '@jest/globals';

import { sandboxNotes } from '#agent_rl/jobs/machine/doctor.ts';
import { EventLog } from '#agent_rl/core/services/event-log.ts';
import type { SandboxIncident } from '#agent_rl/sandbox/incident.ts';

test('The doctor names which sandboxes were skipped, which protections are missing and what is not stopped', () => {
  const incidents = new EventLog<SandboxIncident>();
  incidents.add({ kind: 'swept', message: 'folders were left behind' });
  incidents.add({ kind: 'threads', message: 'threads are counted together' });
  const notes = sandboxNotes({ tier: 'native:lite', skipped: ['native:ns: no'], incidents });
  expect(notes.slice(0, 2)).toEqual([
    'skipped: native:ns: no',
    'missing protection: threads are counted together',
  ]);
  expect(notes[2]).toMatch(
    /^does not protect against: bugs of the Linux kernel.*; finding out whether/,
  );
  expect(notes).toHaveLength(3);
});
