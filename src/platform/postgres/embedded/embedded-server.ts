import { mkdir, realpath, rmdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Random } from '../../../kernel/random.ts';
import type { DatabaseTarget } from '../sql.ts';
import { ensureLibraryLinks, locateBinaries } from './binaries.ts';
import { claimDirectory } from './claim-directory.ts';
import { dataDirectoryIn, handOver, inspectCluster, makeCluster } from './cluster.ts';
import { copyBinaries } from './copy-binaries.ts';
import { EmbeddedDatabaseError } from './embedded-error.ts';
import { chooseIdentity } from './identity.ts';
import { socketDirectory } from './socket-directory.ts';
import { supervise } from './supervisor.ts';
import { readSystem, type System } from './system-accounts.ts';

export type EmbeddedOptions = {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /**
   * True when a server that runs there already may be used. For command-line tools only, since it stops when its owner stops.
   */
  readonly adopt?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** Signal that ends a start under way. */
  readonly signal?: AbortSignal | undefined;
  readonly system?: System;
};

export type EmbeddedServer = AsyncDisposable & {
  readonly target: DatabaseTarget;
  readonly adopted: boolean;
};

/**
 * Starts a PostgreSQL server of our own in a directory, and creates the database when there is none. The server ends with this
 * process, however this process ends, and is restarted when it fails.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const directory = await makeDirectory(options.directory);
  const dataDirectory = dataDirectoryIn(directory);
  const dataUid = await inspectCluster(directory);
  if (dataUid !== undefined) {
    const { clock, log, adopt = false, signal } = options;
    const claim = await claimDirectory({ directory, dataDirectory, clock, log, adopt, signal });
    if (claim.kind === 'running') return adopted(claim.socketDirectory);
  }
  const { identity, binaries } = await prepareToRun(options, directory, dataUid);
  const deps = { binaries, identity, random: options.random };
  if (dataUid === undefined) await makeCluster(directory, deps);
  await handOver(dataDirectory, identity);
  const socket = socketDirectory(dataDirectory, identity);
  const server = await supervise({
    directory,
    dataDirectory,
    socketDirectory: socket,
    binaries,
    identity,
    clock: options.clock,
    log: options.log,
    settings: options.settings ?? {},
    signal: options.signal,
  });
  return {
    target: targetIn(socket),
    adopted: false,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      // A folder that was made for the socket alone is removed; a folder that is not empty after all stays.
      if (socket !== dataDirectory) await rmdir(socket).catch(() => undefined);
    },
  };
}

async function prepareToRun(
  options: EmbeddedOptions,
  directory: string,
  dataUid: number | undefined,
) {
  const system = options.system ?? readSystem();
  const installed = locateBinaries();
  ensureLibraryLinks(installed.root);
  const identity = await chooseIdentity({ system, directory, dataUid, binaries: installed });
  const binaries = identity.copyBinaries ? await copyBinaries(installed) : installed;
  return { identity, binaries };
}

const targetIn = (directory: string): DatabaseTarget => ({
  kind: 'socket',
  directory,
  user: 'app',
  database: 'postgres',
});

const adopted = (socket: string): EmbeddedServer => ({
  target: targetIn(socket),
  adopted: true,
  [Symbol.asyncDispose]: async () => {},
});

async function makeDirectory(name: string): Promise<string> {
  const path = resolve(name);
  try {
    await mkdir(path, { recursive: true });
    return await realpath(path);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `The database directory ${path} cannot be made: ${(error as Error).message}`,
      { cause: error },
    );
  }
}
