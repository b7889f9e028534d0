import type * as Uws from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { raiseHeaderLimit } from '../config.ts';

/** The library as it is; its types leave the listen option out. */
export type UwsModule = typeof Uws & { readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number };

/** The socket library has no binary for this machine. The message is one sentence for the operator. */
export class UnsupportedPlatformError extends Error {
  override readonly name = 'UnsupportedPlatformError';
}

/** Names this machine as the library's binaries are named: `linux-x64-115`. */
export const platformName = (): string =>
  `${process.platform}-${process.arch}-${process.versions.modules}`;

/** The only place that loads uWebSockets.js. The header limit must stand before the binary is read. */
export async function loadUws(
  load: () => Promise<{ default: UwsModule }> = importUws,
): Promise<UwsModule> {
  raiseHeaderLimit();
  try {
    return (await load()).default;
  } catch (cause) {
    throw new UnsupportedPlatformError(
      `uWebSockets.js has no binary for ${platformName()} with ${libcName()} on Node ${process.version}: ` +
        'use Node 20 or 22 on Linux with glibc 2.27 or newer, or on macOS.',
      { cause },
    );
  }
}

// The package's types describe named exports; its ES module hands the same object out as default.
const importUws = () => import('uWebSockets.js') as unknown as Promise<{ default: UwsModule }>;

function libcName(): string {
  const report = process.report?.getReport() as
    | { header?: { glibcVersionRuntime?: string } }
    | undefined;
  const glibc = report?.header?.glibcVersionRuntime;
  return glibc === undefined ? 'no glibc' : `glibc ${glibc}`;
}

/** The file of the loaded binary, so that its checksum can be compared with `UWS_SHA256`. */
export function uwsBinaryPath(): string {
  const require = createRequire(import.meta.url);
  const core = createRequire(require.resolve('uWebSockets.js'));
  const { platform, arch, version } = process;
  const major = version.slice(1).split('.')[0];
  try {
    return core.resolve(`@uwsjs/${platform}-${arch}-${major}/uws.node`);
  } catch {
    return core.resolve(`./uws_${platform}_${arch}_${process.versions.modules}.node`);
  }
}
