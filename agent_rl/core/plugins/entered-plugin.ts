const listeners = new Set<(plugin: string) => void>();

/** To be called before the code of a plugin runs, so that a plugin that never returns can be named. */
export const enterPlugin = (plugin: string): void => {
  for (const listener of listeners) listener(plugin);
};

/** Has the name of each plugin whose code is about to run. @returns ends it */
export function listenToPlugins(listener: (plugin: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
