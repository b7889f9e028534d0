import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { runProgram } from './run-program.ts';

export type SystemAccount = { readonly name: string; readonly uid: number; readonly gid: number };

/** Facts of the machine that decide the identity; tests pass other facts. */
export type System = {
  readonly uid: number;
  readonly platform: string;
  readonly accounts: readonly SystemAccount[];
  /** True when the process's user has a name, which `initdb` needs. */
  readonly hasAccountName: boolean;
  /** Returns true when any user may reach a path, by the execute bits of the path and of the folders above it. */
  readonly othersMayEnter: (path: string) => boolean;
  readonly mayUnshare: () => Promise<boolean>;
};

/** Command prefix for a user namespace in which root counts as an ordinary user. */
export const UNSHARE = ['unshare', '-U', '--map-user=65534', '--map-group=65534'] as const;

/** Reads the facts of this machine. */
export function readSystem(): System {
  return {
    uid: process.getuid?.() ?? 0,
    platform: process.platform,
    accounts: readAccounts(),
    hasAccountName: hasAccountName(),
    othersMayEnter,
    mayUnshare: async () => (await runProgram([...UNSHARE, 'true'])).code === 0,
  };
}

function readAccounts(): SystemAccount[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter((fields) => fields.length > 3)
      .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  } catch {
    return [];
  }
}

function hasAccountName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function othersMayEnter(path: string): boolean {
  for (let place = resolve(path); ; place = dirname(place)) {
    if ((statSync(place).mode & 1) === 0) return false;
    if (place === dirname(place)) return true;
  }
}
