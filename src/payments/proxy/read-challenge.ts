import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import { decodeContent, readBounded } from '../../platform/egress/read-body.ts';
import { type Challenge, parseChallenge, type VendorAnswer } from '../../x402/challenge.ts';
import { X402_LIMITS } from '../../x402/limits.ts';
import type { Terms } from '../../x402/offer.ts';
import { proxyErrors } from '../errors.ts';
import { VendorCallFailed } from './vendor-failed.ts';

/**
 * Reads the payment that a vendor's 402 asks for. Throws the refusal when it names no payment that this server can
 * make.
 */
export async function readChallenge(answer: GuardedAnswer, terms: Terms): Promise<Challenge> {
  const parsed = parseChallenge(await vendorAnswer(answer), terms);
  switch (parsed.kind) {
    case 'challenge':
      return parsed.challenge;
    case 'absent':
      throw new VendorCallFailed('unreadable', proxyErrors.challengeMissing());
    case 'unreadable':
      throw new VendorCallFailed(
        'unreadable',
        proxyErrors.unreadableChallenge(parsed.code, parsed.detail),
      );
  }
}

/**
 * Returns an answer with its body when the body is small enough to be read whole; without its body when the body is larger or
 * breaks off.
 */
export async function vendorAnswer(answer: GuardedAnswer): Promise<VendorAnswer> {
  return { header: (name) => valuesOf(answer, name), body: await smallBody(answer) };
}

async function smallBody(answer: GuardedAnswer): Promise<Uint8Array | undefined> {
  const most = X402_LIMITS.challengeBodyBytes;
  try {
    const [coding] = valuesOf(answer, 'content-encoding');
    return decodeContent(await readBounded(answer.body, most), coding, most);
  } catch {
    // The body is too long, cut off or in an unknown encoding, so a challenge in it is not trusted.
    return undefined;
  } finally {
    answer.discard();
  }
}

export const valuesOf = ({ headers }: GuardedAnswer, wanted: string): readonly string[] =>
  headers.flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []));
