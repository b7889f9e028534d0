import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vitest/config';
import { ROOT } from '../../src/app/commands/compile.ts';
import { compiled } from './compiled.ts';

/**
 * Worker threads start from compiled code, as processes do: each would bring up the TypeScript loader for itself, which
 * takes longer than most of what it is started for. Threads of `npm start` do so in the tests of the demo.
 */
export const compiledThreads: Plugin = {
  name: 'compiled-threads',
  enforce: 'pre',
  transform(code, id) {
    const path = id.split('?')[0] ?? id;
    if (!code.includes('workerEntry(') || !path.startsWith(`${ROOT}/src/`)) return undefined;
    const place = pathToFileURL(compiled(relative(ROOT, path))).href;
    return code.replaceAll(', import.meta.url)', `, ${JSON.stringify(place)})`);
  },
};
