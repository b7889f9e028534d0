import { describe, expect, it } from 'vitest';
import { binariesIn } from '../../../../../src/platform/postgres/embedded/binaries.ts';
import { chooseIdentity } from '../../../../../src/platform/postgres/embedded/identity.ts';
import type { System } from '../../../../../src/platform/postgres/embedded/system-accounts.ts';

const POSTGRES = { name: 'postgres', uid: 101, gid: 104 };
const NOBODY = { name: 'nobody', uid: 65_534, gid: 65_534 };
const ALICE = { name: 'alice', uid: 1_000, gid: 1_000 };

const choose = (over: Partial<System>, dataUid?: number) =>
  chooseIdentity({
    system: {
      uid: 0,
      platform: 'linux',
      accounts: [ALICE, NOBODY, POSTGRES],
      hasAccountName: true,
      othersMayEnter: () => true,
      mayUnshare: async () => true,
      ...over,
    },
    directory: '/srv/db',
    binaries: binariesIn('/srv/app/native'),
    dataUid,
  });

const closed = { othersMayEnter: () => false };
const noUnshare = { mayUnshare: async () => false };

describe('the user that the database runs as', () => {
  it('the embedded database runs as the ordinary user who starts it', async () => {
    const identity = await choose({ uid: 1_000 }, 1_000);
    expect(identity).toMatchObject({ prefix: [], account: undefined, byHandle: false });
  });

  it('the embedded database refuses data of another user and names that user', async () => {
    await expect(choose({ uid: 1_000 }, 101)).rejects.toThrow('belongs to user postgres');
    await expect(choose({ uid: 1_000 }, 777)).rejects.toThrow('belongs to user 777');
  });

  it('the embedded database never runs as root', async () => {
    for (const over of [{}, closed, noUnshare, { ...closed, ...noUnshare }]) {
      for (const dataUid of [undefined, 0, 101, 1_000, 777]) {
        const { prefix, account } = await choose(over, dataUid);
        expect(prefix[0] === 'unshare' || (account?.uid ?? 0) > 0).toBe(true);
      }
    }
  });

  it('the embedded database of root runs as postgres, else nobody, else the data’s owner', async () => {
    expect((await choose({})).account).toEqual(POSTGRES);
    expect((await choose({ accounts: [NOBODY] })).account).toEqual(NOBODY);
    expect((await choose({}, 1_000)).account).toEqual(ALICE);
  });

  it('the embedded database of root uses a user namespace in a folder that no other user may enter', async () => {
    expect((await choose(closed)).prefix[0]).toBe('unshare');
  });

  it('the embedded database of root gets its folder by a handle where namespaces are refused', async () => {
    const identity = await choose({ ...closed, ...noUnshare });
    expect(identity).toMatchObject({ account: POSTGRES, byHandle: true, copyBinaries: true });
  });

  it('the embedded database says in one sentence when it has no user to run as', async () => {
    const none = { ...noUnshare, accounts: [] };
    await expect(choose(none)).rejects.toThrow('cannot run as root');
    await expect(choose({ ...noUnshare, ...closed, platform: 'darwin' })).rejects.toThrow(
      'DATABASE_URL',
    );
    await expect(choose({ ...noUnshare, uid: 12_345, hasAccountName: false })).rejects.toThrow(
      'User id 12345 has no name',
    );
  });
});
