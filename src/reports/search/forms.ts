import { agentKeyPrefix, BRAND, developerKeyPrefix } from '../../kernel/ids.ts';
import { normalTag } from '../../spend/attribution/tag.ts';

/** Forms of a text by which it can be an object. */
export type Form =
  | 'rowId'
  | 'hash'
  | 'wallet'
  | 'agentKeyPrefix'
  | 'developerKeyPrefix'
  | 'delivery'
  | 'phoneNumber'
  | 'account'
  | 'id'
  | 'correlation'
  | 'tag'
  | 'name';

export type Lookup = { readonly form: Form; readonly text: string };

const MAX_BIGINT = 2n ** 63n - 1n;

/**
 * Returns the look-ups of a text: one for each form that it has. Of a key only the part that may be shown is looked up, so that
 * a secret pasted by mistake goes no further.
 */
export function lookupsOf(text: string): readonly Lookup[] {
  const lower = text.toLowerCase();
  if (text.startsWith(BRAND.developerKeyPrefix)) {
    return [{ form: 'developerKeyPrefix', text: developerKeyPrefix(withoutDots(text)) }];
  }
  if (text.startsWith(BRAND.agentKeyPrefix)) {
    return [{ form: 'agentKeyPrefix', text: agentKeyPrefix(withoutDots(text)) }];
  }
  const tag = normalTag(text);
  const found: (Lookup | false)[] = [
    /^\d{1,19}$/.test(text) && BigInt(text) <= MAX_BIGINT && { form: 'rowId', text },
    /^0x[0-9a-f]{64}$/.test(lower) && { form: 'hash', text: lower },
    /^0x[0-9a-f]{40}$/.test(lower) && { form: 'wallet', text: lower },
    /^[0-9a-f]{32}$/.test(lower) && { form: 'delivery', text: lower },
    /^\+?\d{5,15}$/.test(text) && { form: 'phoneNumber', text: `+${text.replace('+', '')}` },
    /^acct_[0-9a-f]{12}$/.test(lower) && { form: 'account', text: lower },
    /^[A-Za-z0-9_-]{8,64}$/.test(text) && { form: 'id', text },
    { form: 'correlation', text },
    tag !== undefined && { form: 'tag', text: tag },
    { form: 'name', text },
  ];
  return found.filter((lookup) => lookup !== false);
}

const withoutDots = (text: string): string => text.replace(/\.+$/, '');
