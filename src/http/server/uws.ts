import type * as Uws from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { raiseHeaderLimit } from '../../config/config.ts';

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
        'use Node 20 or 22 on Linux with glibc 2.27 or newer, Node 24 or 26 with glibc 2.38 or newer, or macOS.',
      { cause },
    );
  }
}

const require = createRequire(import.meta.url);
const nodeMajor = (): number => Number(process.versions.node.split('.')[0]);

/** The library is pinned for the oldest glibc that is supported; of that version there is none for this Node.js or later. */
const FIRST_ON_NEWER_BINARIES = 24;

const binaryPackage = (): string => `@uwsjs/${process.platform}-${process.arch}-${nodeMajor()}`;

// The package's types describe named exports; its ES module hands the same object out as default.
const importUws = async (): Promise<{ default: UwsModule }> =>
  nodeMajor() < FIRST_ON_NEWER_BINARIES
    ? ((await import('uWebSockets.js')) as unknown as { default: UwsModule })
    : { default: require(binaryPackage()) as UwsModule };

function libcName(): string {
  const report = process.report?.getReport() as
    | { header?: { glibcVersionRuntime?: string } }
    | undefined;
  const glibc = report?.header?.glibcVersionRuntime;
  return glibc === undefined ? 'no glibc' : `glibc ${glibc}`;
}

/** The file of the loaded binary, so that its checksum can be compared with `UWS_SHA256`. */
export function uwsBinaryPath(): string {
  const file = `${binaryPackage()}/uws.node`;
  if (nodeMajor() >= FIRST_ON_NEWER_BINARIES) return require.resolve(file);
  const core = createRequire(require.resolve('uWebSockets.js'));
  try {
    return core.resolve(file);
  } catch {
    const { platform, arch, versions } = process;
    return core.resolve(`./uws_${platform}_${arch}_${versions.modules}.node`);
  }
}
