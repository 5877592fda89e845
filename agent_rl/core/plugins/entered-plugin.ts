const listeners = new Set<(plugin: string) => void>();

/** Called before plugin code runs, so that a plugin that never returns can be named. */
export const enterPlugin = (plugin: string): void => {
  for (const listener of listeners) listener(plugin);
};

/** Has the name of each plugin whose code is about to run. @returns ends it */
export function listenToPlugins(listener: (plugin: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
