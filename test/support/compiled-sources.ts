import { relative, resolve } from 'node:path';
import type { Plugin } from 'vitest/config';
import { ROOT } from '../../src/app/commands/compile.ts';
import { BUILD, compiled } from './compiled.ts';

/** The compiler itself, and what the run needs before anything is compiled, is loaded as it is written. */
const BEFORE_COMPILING = ['compiled.ts', 'compiled-sources.ts', 'global-database.ts'].map(
  (name) => `${ROOT}/test/support/${name}`,
);
const SOURCE = /^\/(?:src|machines|media|bench)\/.*\.ts$/;

/**
 * Tests take the modules of the project from the compiled code, which Node.js loads by itself: Vitest would ask its main
 * process for each of a thousand modules, in every worker. Worker threads, too, start from compiled code this way.
 */
export const compiledSources: Plugin = {
  name: 'compiled-sources',
  enforce: 'pre',
  config: () => ({ test: { server: { deps: { external: [new RegExp(`^${BUILD}/`)] } } } }),
  resolveId(source, importer = '') {
    const [from = ''] = importer.split('?');
    if (!source.startsWith('.') || !from.startsWith(`${ROOT}/test/`)) return undefined;
    if (BEFORE_COMPILING.includes(from)) return undefined;
    const path = resolve(from, '..', source);
    if (!path.startsWith(`${ROOT}/`) || !SOURCE.test(path.slice(ROOT.length))) return undefined;
    return compiled(relative(ROOT, path));
  },
};
