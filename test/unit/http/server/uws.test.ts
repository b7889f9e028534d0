import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  loadUws,
  platformName,
  UnsupportedPlatformError,
  uwsBinaryPath,
} from '../../../../src/http/server/uws.ts';
import { UWS_SHA256 } from '../../../../src/http/server/uws-checksums.ts';

describe('the socket library', () => {
  it('is the binary that was examined', () => {
    const digest = createHash('sha256').update(readFileSync(uwsBinaryPath())).digest('hex');
    expect(UWS_SHA256[platformName()], `an entry for ${platformName()}`).toBe(digest);
  });

  it('says in one sentence what machine it cannot run on', async () => {
    const failing = loadUws(() => Promise.reject(new Error('no such module\nat a\nat b')));
    await expect(failing).rejects.toThrow(UnsupportedPlatformError);
    const message = await failing.catch((error: Error) => error.message);
    expect(message).not.toContain('\n');
    for (const part of [platformName(), 'glibc', process.version]) expect(message).toContain(part);
  });
});
