import { closeSync, openSync } from 'node:fs';
import type { Binaries } from './binaries.ts';
import { EmbeddedDatabaseError } from './embedded-error.ts';
import type { FolderPlace } from './run-program.ts';
import { type System, type SystemAccount, UNSHARE } from './system-accounts.ts';

/** User as whom PostgreSQL runs; it refuses to run as root. */
export type Identity = {
  /** Words that are put before every command. */
  readonly prefix: readonly string[];
  /** Account that the process runs under and that owns the data. Undefined: the process keeps its account. */
  readonly account: SystemAccount | undefined;
  /** True when the account cannot reach the data by its path and gets an open handle of the folder instead. */
  readonly byHandle: boolean;
  /** True when the account cannot reach the binaries either, so that it gets a copy. */
  readonly copyBinaries: boolean;
};

export type IdentityRequest = {
  readonly system: System;
  /** Folder that holds the data folder. It exists. */
  readonly directory: string;
  readonly binaries: Binaries;
  /** User id of the owner of existing data. Undefined without data. */
  readonly dataUid: number | undefined;
};

/** Starts a program as this identity, with a working folder. A program that gets the folder as a handle keeps its own copy. */
export function withFolder<T>(
  { prefix, account, byHandle }: Identity,
  folder: string,
  start: (place: FolderPlace) => T,
): T {
  const as = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  if (!byHandle) return start({ prefix, path: folder, as, handles: [] });
  const handle = openSync(folder, 'r');
  try {
    return start({ prefix, path: '/proc/self/fd/3', as, handles: [handle] });
  } finally {
    closeSync(handle);
  }
}

const PLAIN: Identity = { prefix: [], account: undefined, byHandle: false, copyBinaries: false };

/**
 * Chooses the identity; means that work everywhere come first. An ordinary user stays; root becomes the owner of the data, else
 * an unprivileged account. An account that may not reach the folder (a project below /root) runs in a user namespace or, where
 * namespaces are refused (most containers), gets a handle of the folder.
 */
export function chooseIdentity(request: IdentityRequest): Promise<Identity> {
  return request.system.uid === 0 ? chooseForRoot(request) : chooseForUser(request);
}

async function chooseForUser({ system, directory, dataUid }: IdentityRequest): Promise<Identity> {
  if (dataUid !== undefined && dataUid !== system.uid) {
    const owner = system.accounts.find((account) => account.uid === dataUid)?.name ?? dataUid;
    throw new EmbeddedDatabaseError(
      `The database in ${directory} belongs to user ${owner}: start as that user or root, or change its owner.`,
    );
  }
  if (system.hasAccountName) return PLAIN;
  if (await system.mayUnshare()) return { ...PLAIN, prefix: UNSHARE };
  throw new EmbeddedDatabaseError(
    `User id ${system.uid} has no name in /etc/passwd, which PostgreSQL needs: add one, or set DATABASE_URL=postgres://…`,
  );
}

async function chooseForRoot(request: IdentityRequest): Promise<Identity> {
  const { system, directory, binaries, dataUid } = request;
  const account = accountFor(system, dataUid);
  const reachesBinaries = system.othersMayEnter(binaries.postgres);
  const reachesData = system.othersMayEnter(directory);
  const rootsData = dataUid === 0;
  if (account !== undefined && reachesBinaries && reachesData && !rootsData) {
    return { ...PLAIN, account };
  }
  if ((dataUid === undefined || rootsData) && (await system.mayUnshare())) {
    return { ...PLAIN, prefix: UNSHARE };
  }
  if (account !== undefined && (reachesData || system.platform === 'linux')) {
    return { prefix: [], account, byHandle: !reachesData, copyBinaries: !reachesBinaries };
  }
  throw new EmbeddedDatabaseError(
    `PostgreSQL cannot run as root, and no other user can use ${directory}: start as an ordinary user, or set DATABASE_URL=postgres://…`,
  );
}

/**
 * Returns the account that owns the data, else the account that PostgreSQL is usually given. Undefined when the machine has no
 * such account.
 */
function accountFor(system: System, dataUid: number | undefined): SystemAccount | undefined {
  const named = (name: string) => system.accounts.find((account) => account.name === name);
  const owner = system.accounts.find((account) => account.uid === dataUid && account.uid !== 0);
  return owner ?? named('postgres') ?? named('nobody');
}
