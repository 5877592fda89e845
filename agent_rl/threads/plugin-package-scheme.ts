/** Address of a package that is to be found from one of several folders: `agent-rl-plugin:name|folder|folder`. */
export const packageScheme = 'agent-rl-plugin:';
