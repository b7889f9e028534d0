import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  loadUws,
  platformName,
  UnsupportedPlatformError,
  UWS_PACKAGES,
  uwsBinaryPath,
} from '../../../../src/http/server/uws.ts';
import { UWS_SHA256 } from '../../../../src/http/server/uws-checksums.ts';

describe('the socket library', () => {
  it('the installed socket library is the binary that was reviewed', () => {
    const digest = createHash('sha256').update(readFileSync(uwsBinaryPath())).digest('hex');
    expect(UWS_SHA256[platformName()], `an entry for ${platformName()}`).toContain(digest);
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
    const [older, newer] = UWS_PACKAGES;
    expect(loadedWhere([older, newer])).toEqual({ library: older, tried: [older] });
    expect(loadedWhere([newer])).toEqual({ library: newer, tried: [older, newer] });
  });

  it('the loader says in one sentence which machine has no binary of the socket library', () => {
    const failure = thrownBy(() =>
      loadUws((name) => {
        throw new Error(`no such module ${name}\nat a\nat b`);
      }),
    );
    expect(failure).toBeInstanceOf(UnsupportedPlatformError);
    expect(failure.message).not.toContain('\n');
    for (const part of [platformName(), 'glibc', process.version, 'npm ci']) {
      expect(failure.message).toContain(part);
    }
    expect((failure.cause as AggregateError).errors).toHaveLength(UWS_PACKAGES.length);
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
