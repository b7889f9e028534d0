import { isLoopbackName } from '../platform/egress/local-name.ts';

/** Address of the marketplace, and the URLs that are below it. */
export interface MarketAddress {
  /** Host name of the marketplace in lower case, without the port. Spend controls match this name. */
  readonly host: string;
  /** Returns the part of a URL's path below the address, without the query. Undefined for a URL elsewhere. */
  pathOf(url: string): string | undefined;
  /** Returns the whole URL of a path below the address. */
  urlOf(path: string): string;
}

/**
 * Creates the address of the marketplace. An address on this machine is the same under each of the machine's names. `base` is
 * called at each look: the port of a server may be known only when it listens.
 */
export function createMarketAddress(base: () => string): MarketAddress {
  return {
    get host() {
      return hostOf(new URL(base()));
    },
    pathOf(url) {
      if (!URL.canParse(url)) return undefined;
      const at = new URL(base());
      const asked = new URL(url);
      const folder = at.pathname.replace(/\/+$/, '');
      const isThere =
        asked.protocol === at.protocol && asked.port === at.port && isSameHost(asked, at);
      if (!isThere || asked.username !== '' || asked.password !== '') return undefined;
      return asked.pathname.startsWith(`${folder}/`)
        ? asked.pathname.slice(folder.length)
        : undefined;
    },
    urlOf: (path) => base().replace(/\/+$/, '') + path,
  };
}

const hostOf = ({ hostname }: URL): string => hostname.toLowerCase().replace(/\.$/, '');

const isSameHost = (one: URL, other: URL): boolean =>
  hostOf(one) === hostOf(other) || (isLoopback(one) && isLoopback(other));

const isLoopback = (url: URL): boolean => {
  const host = hostOf(url);
  return isLoopbackName(host) || host === '127.0.0.1' || host === '[::1]';
};
