import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ApiError } from '../../src/kernel/api-error.ts';

type Make = (...given: unknown[]) => ApiError;

const SRC = resolve(import.meta.dirname, '../../src');

const modules: Record<string, Record<string, Make>>[] = await Promise.all(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('/errors.ts'))
    .sort()
    .map((path) => import(join(SRC, path))),
);

/** Families of refusals that the `errors.ts` files below `src` export, such as `phoneErrors`, by their first word. */
export const refusalFamilies: readonly (readonly [string, Readonly<Record<string, Make>>])[] =
  modules.flatMap((module) =>
    Object.entries(module)
      .filter(([, family]) => typeof family === 'object')
      .map(([name, family]) => [name.replace(/Errors$/, ''), family] as never),
  );
