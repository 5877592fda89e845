import { AgentRlError } from '../../../agent_rl/core/errors.ts';

/** A model of the hub at one of its branches, tags or commits. */
export interface HubModel {
  /** `org/name` */
  name: string;
  revision: string;
}

/** `org/name`; what starts with a dot is a path. */
const hubName = /^\w[\w.-]*\/\w[\w.-]*$/;
const revisionPattern = /^(?!.*\.\.)\w[\w./-]*$/;

/** The model of the hub that a name can mean. @throws AgentRlError `CONFIG_INVALID` for what can be no revision */
export function hubModelOf(name: string, revision = 'main'): HubModel | undefined {
  if (!hubName.test(name)) return undefined;
  if (revisionPattern.test(revision)) return { name, revision };
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${JSON.stringify(revision)} is not a revision of ${name}; expected a branch, a tag or a commit.`,
  );
}
