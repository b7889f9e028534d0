/**
 * Node.js options of a server process, also set by `npm start` and the file of `npm run secrets`. V8 reads the size of its
 * young generation before any code runs, so the server cannot set the size itself.
 */
export const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=64'];
