import { isObject, type Json } from '../kernel/json.ts';
import {
  type DecodedHeader,
  decodeBase64Json,
  type HeaderLookup,
  headerValues,
  parseJson,
} from './base64-json.ts';
import { X402_LIMITS } from './limits.ts';
import { type PaymentOffer, type ProtocolVersion, parseOffer, type Terms } from './offer.ts';

/** A vendor's demand for payment, with at least one offer that can be paid here. */
export type Challenge = {
  readonly version: ProtocolVersion;
  readonly offers: readonly PaymentOffer[];
  /** `resource` and `extensions` of version 2, which are sent back unchanged. */
  readonly resource: Json | undefined;
  readonly extensions: Json | undefined;
};

export type ParsedChallenge =
  | { readonly kind: 'challenge'; readonly challenge: Challenge }
  | {
      readonly kind: 'unreadable';
      /** Code of the problem, which the proxy's response reports. */
      readonly code: 'invalid_base64' | 'invalid_json' | 'no_compatible_requirement';
      readonly detail: string;
    }
  | { readonly kind: 'absent' };

/** The parts of a 402 that can contain a challenge. A body that is too long is cut or left out. */
export type VendorAnswer = {
  readonly header: HeaderLookup;
  readonly body: Uint8Array | undefined;
};

/**
 * Reads the payment that a 402 requires: from the header of version 2, the header of version 1 (one requirement, a list, or an
 * envelope), or the body that published servers of version 1 send. The header takes precedence. Never throws.
 */
export function parseChallenge(answer: VendorAnswer, terms: Terms): ParsedChallenge {
  const document = readDocument(answer);
  return document.kind === 'decoded' ? compatible(unwrap(document.value), terms) : document;
}

function readDocument({ body, header }: VendorAnswer): DecodedHeader | typeof ABSENT {
  const [value, another] = headerValues(header, 'payment-required');
  // Two headers state two prices. The sender of the second header must not choose the price.
  if (another !== undefined) return TWO_HEADERS;
  if (value !== undefined) return decodeBase64Json(value);
  if (body === undefined || body.byteLength > X402_LIMITS.challengeBodyBytes) return ABSENT;
  const decoded = parseJson(body);
  if (decoded.kind === 'unreadable' || !isObject(decoded.value)) return ABSENT;
  const { x402Version, accepts } = decoded.value;
  // A body counts as a challenge only when it says so, because a 402 may have any other body.
  return x402Version === 1 && Array.isArray(accepts) ? decoded : ABSENT;
}

const ABSENT = { kind: 'absent' } as const;

const TWO_HEADERS: DecodedHeader = {
  kind: 'unreadable',
  code: 'invalid_base64',
  detail: 'the header stands there twice',
};

type Envelope = { readonly version: ProtocolVersion; readonly entries: readonly unknown[] } & Pick<
  Challenge,
  'resource' | 'extensions'
>;

function unwrap(document: unknown): Envelope | undefined {
  const bare = { version: 1, resource: undefined, extensions: undefined } as const;
  if (Array.isArray(document)) return { ...bare, entries: document };
  if (!isObject(document)) return undefined;
  const { x402Version, accepts } = document;
  if (accepts === undefined && (x402Version === undefined || x402Version === 1)) {
    return { ...bare, entries: [document] };
  }
  if (!Array.isArray(accepts)) return undefined;
  if (x402Version === 1) return { ...bare, entries: accepts };
  if (x402Version !== 2) return undefined;
  const resource = objectOrNothing(document.resource);
  const extensions = objectOrNothing(document.extensions);
  return { version: 2, entries: accepts, resource, extensions };
}

/**
 * Returns the challenge with the offers that can be paid here. Entries are checked one by one, so an unknown or broken entry
 * never hides a payable entry.
 */
function compatible(envelope: Envelope | undefined, terms: Terms): ParsedChallenge {
  if (envelope === undefined) {
    return incompatible('neither a requirement nor a list of them');
  }
  const { version, entries, resource, extensions } = envelope;
  const offers = entries
    .slice(0, X402_LIMITS.offers)
    .map((entry) => parseOffer(entry, version, terms))
    .filter((offer) => offer !== undefined);
  if (offers.length === 0) {
    const asked = `exact, ${version === 1 ? 'base or ' : ''}eip155:${terms.chainId}, USDC`;
    return incompatible(`no usable offer (${asked})`);
  }
  return { kind: 'challenge', challenge: { version, offers, resource, extensions } };
}

const objectOrNothing = (value: unknown): Json | undefined =>
  isObject(value) && !Array.isArray(value) ? value : undefined;

const incompatible = (detail: string): ParsedChallenge => ({
  kind: 'unreadable',
  code: 'no_compatible_requirement',
  detail,
});
