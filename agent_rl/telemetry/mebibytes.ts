/** A number of bytes as users read it, `230 MiB`. */
export const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
