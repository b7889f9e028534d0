import type { OwnKeys } from '../../src/voice/cascade/own-keys.ts';

/** A caller who has no account anywhere. */
export const NO_OWN_KEYS: OwnKeys = {
  sourcesOf: () => [],
  lookUp: async () => {},
  noteUse: async () => {},
};
