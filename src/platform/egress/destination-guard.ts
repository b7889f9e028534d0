import type { Clock } from '../../kernel/clock.ts';
import { within } from '../../kernel/clock.ts';
import { type AddressKind, addressKind } from './address-kind.ts';
import { BlockedDestination, PlainHttp, Unreachable } from './blocked-destination.ts';
import { createDomainAllowlist } from './domain-allowlist.ts';
import { type Asker, OPERATOR } from './fair-shares.ts';
import { EGRESS_LIMITS } from './limits.ts';
import { isLocalName, isLoopbackName, isMetadataName } from './local-name.ts';
import { parseDestination } from './parse-destination.ts';
import type { ResolveHost } from './resolve-host.ts';

/** Destination that may be called, and the only addresses at which it is called. */
export type CheckedDestination = {
  /** URL in normal form, without a fragment. */
  readonly url: string;
  /** Scheme, host and port, as in a URL. */
  readonly origin: string;
  /** Host that spend controls match: lower-case ASCII without a trailing dot, IDN as punycode, an IPv6 address in brackets. */
  readonly host: string;
  /** Addresses that the name resolved to, at least one, all of them checked. */
  readonly addresses: readonly string[];
  /** Party whose share of the connections the requests take. */
  readonly asker: Asker | typeof OPERATOR;
};

export interface DestinationGuard {
  /**
   * Resolves a name once and checks every address. Rejects with BlockedDestination for a destination that may not be called,
   * and with Unreachable for a name that does not resolve. Connects to nothing.
   */
  admit(url: string, asker?: Asker): Promise<CheckedDestination>;
}

export type DestinationGuardDeps = {
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  /**
   * Development setting that also admits private and loopback addresses and local names. The spelling is checked all the same.
   */
  readonly allowLocalhost: boolean;
  /** Domains that may be called; empty for every public destination. */
  readonly domainAllowlist: readonly string[];
  /** True when plain http is admitted to local addresses only, which `allowLocalhost` opens. */
  readonly needsTls?: boolean;
};

const LOOPBACK = ['127.0.0.1', '::1'];

/** Creates the guard, which checks addresses that a caller chose. Throws at once when an entry of the allowlist is no host. */
export function createDestinationGuard(deps: DestinationGuardDeps): DestinationGuard {
  const { allowLocalhost, clock } = deps;
  const isListed = createDomainAllowlist(deps.domainAllowlist);
  const isCalled = (kind: AddressKind) => kind === 'public' || (kind === 'local' && allowLocalhost);

  function requireListed(host: string): void {
    if (!isListed(host)) throw new BlockedDestination('the host is not on the list of this server');
  }

  function judgeLiteral(host: string, literal: string): readonly string[] {
    if (!isCalled(addressKind(literal))) {
      throw new BlockedDestination('the host is an address that is not public');
    }
    requireListed(host);
    return [literal];
  }

  async function judgeName(
    host: string,
    asker: CheckedDestination['asker'],
  ): Promise<readonly string[]> {
    if (isMetadataName(host) || (isLocalName(host) && !allowLocalhost)) {
      throw new BlockedDestination('the host name is a local one');
    }
    requireListed(host);
    // Never resolved by a name server, which could answer otherwise.
    if (isLoopbackName(host)) return LOOPBACK;
    const found = await resolved(host, asker);
    if (found.length > EGRESS_LIMITS.address.resolved) {
      throw new BlockedDestination('the host name resolves to too many addresses');
    }
    if (!found.every((address) => isCalled(addressKind(address)))) {
      throw new BlockedDestination('the host name resolves to an address that is not public');
    }
    return found;
  }

  async function resolved(
    host: string,
    asker: CheckedDestination['asker'],
  ): Promise<readonly string[]> {
    try {
      const found = await within(
        clock,
        EGRESS_LIMITS.dns.totalMs,
        deps.resolve(host, asker),
        () => [],
      );
      if (found.length > 0) return [...found];
    } catch (cause) {
      throw new Unreachable('the host name does not resolve', { cause });
    }
    throw new Unreachable('the host name does not resolve');
  }

  return {
    async admit(text, asker: CheckedDestination['asker'] = OPERATOR) {
      const { url, host, literal } = parseDestination(text);
      const isPlain = deps.needsTls === true && url.protocol === 'http:';
      if (isPlain && !allowLocalhost) throw new PlainHttp();
      const addresses =
        literal === null ? await judgeName(host, asker) : judgeLiteral(host, literal);
      const isPublic = addresses.some((address) => addressKind(address) === 'public');
      if (isPlain && isPublic) throw new PlainHttp();
      return { url: url.href, origin: url.origin, host, addresses, asker };
    },
  };
}
