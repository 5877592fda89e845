import { AgentRlError, nodeCodeOf } from '../errors.ts';

/**
 * A package that is only installed where it is needed.
 *
 * @param user who needs it, such as `A tool of type mcp`
 * @param install what npm is asked for
 * @throws AgentRlError `CONFIG_INVALID` where it is not installed
 */
export async function optionalPackage<Module>(
  load: () => Promise<Module>,
  { user, install }: { user: string; install: string },
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if (nodeCodeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const text = `${user} needs a package that is not installed. Run npm install ${install}.`;
    throw new AgentRlError('CONFIG_INVALID', text, { cause });
  }
}
