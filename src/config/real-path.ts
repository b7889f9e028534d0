import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The one absolute spelling of a path: `.`, `..`, repeated slashes and symbolic links are resolved. Of a path that does
 * not exist yet, the part that exists is resolved and the rest is kept.
 */
export function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(realPath(parent), basename(absolute));
  }
}
