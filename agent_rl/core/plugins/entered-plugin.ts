let listen: (plugin: string) => void = () => undefined;

/** To be called before the code of a plugin runs, so that a plugin that never returns can be named. */
export const enterPlugin = (plugin: string): void => listen(plugin);

/** Has the name of each plugin whose code is about to run. There is one main thread, and so one listener. */
export function listenToPlugins(listener: ((plugin: string) => void) | undefined): void {
  listen = listener ?? (() => undefined);
}
