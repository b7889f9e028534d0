/** Gathers audio of any chunk size into posts of one size. */
export interface SoundPosts {
  push(pcm: Int16Array): void;
  /** Posts the remaining audio, if any. */
  flush(): void;
}

/** Creates the gatherer. `post` receives a new array each time, which it may transfer. */
export function createSoundPosts(size: number, post: (pcm: Int16Array) => void): SoundPosts {
  const gathered = new Int16Array(size);
  let filled = 0;

  function flush() {
    if (filled === 0) return;
    const pcm = gathered.slice(0, filled);
    filled = 0;
    post(pcm);
  }

  return {
    push(pcm) {
      for (let at = 0; at < pcm.length; ) {
        const count = Math.min(size - filled, pcm.length - at);
        gathered.set(pcm.subarray(at, at + count), filled);
        filled += count;
        at += count;
        if (filled === size) flush();
      }
    },
    flush,
  };
}
