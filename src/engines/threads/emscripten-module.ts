import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';

type Start<Module> = (options: object) => Promise<Module>;

/**
 * Starts an Emscripten program whose package ships it as the transpiled text of a module with the WASM inside, which neither
 * `import` nor `require` can load. Its messages are dropped.
 */
export async function startEmscripten<Module>(script: string): Promise<Module> {
  const source = await readFile(script, 'utf8');
  const exported: { default?: Start<Module> } = {};
  const define = compileFunction(
    source.replaceAll('import.meta.url', 'scriptUrl'),
    ['exports', 'scriptUrl'],
    { filename: script },
  );
  define(exported, pathToFileURL(script).href);
  if (exported.default === undefined) throw new Error(`${script} exports no program`);
  return exported.default({ print() {}, printErr() {} });
}
