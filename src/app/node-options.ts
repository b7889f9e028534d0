/**
 * Options of Node.js for a process that serves. `npm start` and the file of `npm run secrets` have them, too: V8 reads the size of
 * its young generation before any code runs.
 */
export const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=64'];
