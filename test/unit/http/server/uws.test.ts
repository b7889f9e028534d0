import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { loadUws, UnsupportedPlatformError } from '../../../../src/http/server/uws.ts';

const OLDER = 'uWebSockets.js';
const NEWER = 'uWebSockets.js-newer';
const { arch, platform, versions } = process;
const PLATFORM = `${platform}-${arch}-${versions.modules}`;

/**
 * SHA-256 of the native binaries of uWebSockets.js, by `platform-arch-abi`: of 20.51, then of 20.69 where there are binaries of
 * the two versions. Only examined binaries are listed; any other binary fails the check rather than passing unseen.
 */
const REVIEWED: Readonly<Record<string, readonly string[]>> = {
  'linux-x64-115': ['4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89'],
  'linux-x64-127': [
    'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
    '34d235864db874fbf3aeafd48b63f6fb80f61fb584a86f1e5f7b0291dbd7a3d4',
  ],
  'linux-x64-137': ['177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0'],
  'linux-x64-147': ['604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795'],
};

/** The path of the binary that the loader loads on this machine. */
function binaryPath(): string {
  const require = createRequire(new URL('../../../../src/http/server/uws.ts', import.meta.url));
  let loaded = '';
  loadUws((name) => {
    const library = require(name);
    loaded = name;
    return library;
  });
  const core = createRequire(require.resolve(loaded));
  try {
    return core.resolve(`@uwsjs/${platform}-${arch}-${versions.node.split('.')[0]}/uws.node`);
  } catch {
    return core.resolve(`./uws_${platform}_${arch}_${versions.modules}.node`);
  }
}

describe('the socket library', () => {
  it('the installed socket library is the binary that was reviewed', () => {
    const digest = createHash('sha256').update(readFileSync(binaryPath())).digest('hex');
    expect(REVIEWED[PLATFORM], `an entry for ${PLATFORM}`).toContain(digest);
  });

  it('the loader picks the package of the socket library with a binary for this machine, the older one if both fit', () => {
    const loadedWhere = (has: readonly string[]) => {
      const tried: string[] = [];
      const library = loadUws((name) => {
        tried.push(name);
        if (!has.includes(name)) throw new Error(`no binary in ${name}`);
        return name;
      });
      return { library, tried };
    };
    expect(loadedWhere([OLDER, NEWER])).toEqual({ library: OLDER, tried: [OLDER] });
    expect(loadedWhere([NEWER])).toEqual({ library: NEWER, tried: [OLDER, NEWER] });
  });

  it('the loader says in one sentence which machine has no binary of the socket library', () => {
    const failure = thrownBy(() =>
      loadUws((name) => {
        throw new Error(`no such module ${name}\nat a\nat b`);
      }),
    );
    expect(failure).toBeInstanceOf(UnsupportedPlatformError);
    expect(failure.message).not.toContain('\n');
    for (const part of [PLATFORM, 'glibc', process.version, 'npm ci']) {
      expect(failure.message).toContain(part);
    }
    expect((failure.cause as AggregateError).errors).toHaveLength(2);
  });
});

function thrownBy(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
