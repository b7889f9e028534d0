import { RecentMap } from '../../kernel/recent-map.ts';
import { openSealed } from '../../kernel/seal.ts';
import type { SigningSecrets } from './sign-delivery.ts';
import { secretPlace } from './webhook.ts';

/** Sealed secrets of a webhook, as stored in its row. */
type Sealed = {
  readonly accountId: string;
  readonly sealedSecret: Buffer;
  readonly sealedPrevious: Buffer | null;
};

/** Returns the secrets that sign for a webhook. Undefined: sealed under another key of this server. */
export type OpenSecrets = (sealed: Sealed) => SigningSecrets | undefined;

const SECRETS_REMEMBERED = 10_000;

/**
 * Creates the function that decrypts a webhook's secrets. It caches the latest `SECRETS_REMEMBERED` secrets by their sealed
 * bytes.
 */
export function createOpenSecrets(sealingSecret: string): OpenSecrets {
  const opened = new RecentMap<string, string>(SECRETS_REMEMBERED);
  const open = (accountId: string, sealed: Buffer): string => {
    const id = sealed.toString('latin1');
    const secret =
      opened.get(id) ??
      Buffer.from(openSealed(sealingSecret, secretPlace(accountId), sealed)).toString();
    opened.set(id, secret);
    return secret;
  };
  return ({ accountId, sealedPrevious, sealedSecret }) => {
    try {
      const previous = sealedPrevious === null ? undefined : open(accountId, sealedPrevious);
      return { current: open(accountId, sealedSecret), previous };
    } catch {
      return undefined;
    }
  };
}
