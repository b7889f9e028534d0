import { describe, expect, it } from 'vitest';
import { webmDuration } from '../../../../media/duration/webm.ts';
import { webmFile } from '../../../support/sound-files.ts';

describe('the duration of a WebM file', () => {
  it('the duration of a WebM file without a stated length is where its last block ends', async () => {
    expect(await webmDuration(webmFile([0, 20, 980]))).toEqual({
      kind: 'measured',
      durationMs: 1_000,
    });
  });

  it('the duration of a WebM file is the longer one of its header and its blocks', async () => {
    expect(await webmDuration(webmFile([0, 20], 2_500))).toMatchObject({ durationMs: 2_500 });
    expect(await webmDuration(webmFile([0, 980], 1))).toMatchObject({ durationMs: 1_000 });
  });

  it('the duration of a WebM file is refused where there is neither a stated length nor a block', async () => {
    expect(await webmDuration(webmFile([]))).toMatchObject({ kind: 'refused' });
    expect(await webmDuration(webmFile([0, 20]).subarray(0, 20))).toMatchObject({
      kind: 'refused',
    });
  });
});
