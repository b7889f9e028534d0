import type * as Uws from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { raiseHeaderLimit } from '../../config/config.ts';

/** Type of the library with the listen option that its own types leave out. */
export type UwsModule = typeof Uws & { readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number };

/** Thrown when the socket library has no binary for this machine. The message is a sentence for the operator. */
export class UnsupportedPlatformError extends Error {
  override readonly name = 'UnsupportedPlatformError';
}

/**
 * The library's packages in the order in which they are attempted. 20.51 has binaries for Node.js 20 and 22 and runs on glibc
 * 2.27; 20.69 has binaries for Node.js 24 and 26 and needs glibc 2.38. Our code uses only features of 20.51 and 20.69 alike.
 */
const UWS_PACKAGES = ['uWebSockets.js', 'uWebSockets.js-newer'] as const;

type UwsPackage = (typeof UWS_PACKAGES)[number];

const require = createRequire(import.meta.url);

/** Returns the name of this machine as in the names of the library's binaries: `linux-x64-115`. */
const platformName = (): string =>
  `${process.platform}-${process.arch}-${process.versions.modules}`;

/**
 * Loads uWebSockets.js, which is loaded nowhere else. Raises the header limit first, because the binary reads the limit when it
 * is loaded.
 */
export function loadUws(load: (name: UwsPackage) => unknown = require): UwsModule {
  raiseHeaderLimit();
  return loadFirst(load).library;
}

/** Loads the first package that has a binary for this machine. Throws UnsupportedPlatformError when no package has one. */
function loadFirst(load: (name: UwsPackage) => unknown) {
  const failures: unknown[] = [];
  for (const name of UWS_PACKAGES) {
    try {
      return { name, library: load(name) as UwsModule };
    } catch (error) {
      failures.push(error);
    }
  }
  throw new UnsupportedPlatformError(
    `uWebSockets.js has no binary for ${platformName()} with ${libcName()} on Node ${process.version}: ` +
      'use Node 20 or 22 on Linux with glibc 2.27 or newer, Node 24 or 26 with glibc 2.38 or newer, or macOS. After a change of Node run npm ci again.',
    { cause: new AggregateError(failures) },
  );
}

function libcName(): string {
  const report = process.report?.getReport() as
    | { header?: { glibcVersionRuntime?: string } }
    | undefined;
  const glibc = report?.header?.glibcVersionRuntime;
  return glibc === undefined ? 'no glibc' : `glibc ${glibc}`;
}
