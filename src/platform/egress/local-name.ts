/** Endings of names that belong to a machine, a network or a cluster and not to the public. */
const LOCAL_DOMAINS = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'svc',
  'onion',
];

/** Names of metadata services of clouds. They are refused even in development. */
const METADATA_NAMES = [
  'metadata',
  'instance-data',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.azure.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'metadata.tencentyun.com',
  'metadata.cloud.ibm.com',
  'api.metadata.cloud.ibm.com',
  'instance-data.ec2.internal',
];

const under = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

/** Returns true for the name of a machine or a local network: without a dot, or below a domain that is never public. */
export const isLocalName = (host: string): boolean =>
  !host.includes('.') || LOCAL_DOMAINS.some((domain) => under(host, domain));

export const isMetadataName = (host: string): boolean =>
  METADATA_NAMES.some((name) => under(host, name));

/** Returns true for names that mean this machine wherever they are resolved. */
export const isLoopbackName = (host: string): boolean => under(host, 'localhost');
