/**
 * Where every worker thread starts. A worker does not inherit the TypeScript loader of the process that
 * started it, so this file brings its own when the entry is a source file, and none when it was built.
 */
import { workerData } from 'node:worker_threads';

const { entry } = workerData;
if (entry.endsWith('.ts')) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import(entry);
