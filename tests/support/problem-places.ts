/** The problems of a `CONFIG_INVALID` error by their place, `run.yaml:3:5 train.seed`: texts may change. */
export const problemPlaces = (message: string): string[] =>
  message
    .split('\n')
    .slice(1)
    .map((line) => /^ *(.*?): /.exec(line)?.[1] ?? line.trim());

/** The settings that a `CONFIG_INVALID` error is about, `train.seed`. */
export const problemPaths = (message: string): string[] =>
  problemPlaces(message).map((place) => place.split(' ').at(-1) ?? '');
