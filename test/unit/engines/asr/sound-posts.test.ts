import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSoundPosts } from '../../../../src/engines/asr/sound-posts.ts';

describe('sound posts', () => {
  it('sound posts carry every sample once and in order, in posts of one size and a remainder', () => {
    fc.assert(
      fc.property(fc.array(fc.int16Array({ maxLength: 50 })), (cuts) => {
        const posts: Int16Array[] = [];
        const sound = createSoundPosts(16, (pcm) => posts.push(pcm));
        for (const cut of cuts) sound.push(cut);
        sound.flush();
        sound.flush();
        expect(posts.flatMap((pcm) => [...pcm])).toEqual(cuts.flatMap((cut) => [...cut]));
        expect(posts.slice(0, -1).every(({ length }) => length === 16)).toBe(true);
      }),
    );
  });
});
