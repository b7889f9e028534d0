import { readFileSync } from 'node:fs';

/** A file of sound that another program wrote; test/vectors/sound/README.md says which. */
export const soundVector = (name: string): Buffer =>
  readFileSync(new URL(`../vectors/sound/${name}`, import.meta.url));
