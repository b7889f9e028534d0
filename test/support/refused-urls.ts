import { PLAIN } from './address-spellings.ts';
import { MISSPELLED, of, type RefusedUrl, V4_TARGETS } from './misspelled-urls.ts';

/** Addresses that are not public, each in its usual spelling. */
export const REFUSED_V4 =
  `0.0.0.0 0.1.2.3 10.0.0.0 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.2
  127.255.255.254 168.63.129.16 169.254.0.1 169.254.170.2 172.16.0.0 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1
  192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255
  198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255`.split(/\s+/);

export const REFUSED_V6 =
  `:: ::1 ::2 100::1 64:ff9b::808:808 64:ff9b:1::1 2001::1 2001:2::1 2001:3::1 2001:4:112::1
  2001:10::1 2001:20::1 2001:30::1 2001:db8::1 2002:808:808::1 2620:4f:8000::1 3fff::1 4000::1 5f00::1 8000::1
  fc00::1 fd00::1 fd00:ec2::254 fd20:ce::254 fdff:ffff::1 fe80::1 febf::1 fec0::1 feff::1 ff02::1 ff0e::1`.split(
    /\s+/,
  );

const LOCAL_NAMES =
  `localhost LOCALHOST localhost. LocalHost. app.localhost a.b.localhost localhost.localdomain
  printer router. intranet db redis vendor nas.local NAS.LOCAL. x.y.local api.internal api.internal. host.docker.internal
  gateway.docker.internal wiki.intranet files.corp box.home fritz.lan server.private router.home.arpa
  kubernetes.default.svc vendor.default.svc abcdefghijklmnop.onion metadata metadata. metadata.google.internal
  METADATA.GOOGLE.INTERNAL metadata.google.internal. metadata.goog instance-data instance-data.ec2.internal
  metadata.azure.internal metadata.azure.com metadata.tencentyun.com`.split(/\s+/);

/** Names that a nameserver says something about, and what it says. */
export const SCRIPTED_NAMES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [...REFUSED_V4, ...REFUSED_V6].map((address, i) => [`to-${i}.vendor.example`, [address]]),
  ),
  'mixed-first.vendor.example': ['10.0.0.1', '93.184.216.34'],
  'mixed-last.vendor.example': ['93.184.216.34', '1.1.1.1', '127.0.0.1'],
  'mixed-family.vendor.example': ['93.184.216.34', '::1'],
  'mapped.vendor.example': ['::ffff:10.0.0.1'],
  'mapped-public.vendor.example': ['::ffff:8.8.8.8'],
  'zone.vendor.example': ['fe80::1%eth0'],
  'zone-public.vendor.example': ['2606:4700::1111%1'],
  'odd.vendor.example': ['0x7f.1'],
  'short.vendor.example': ['127.1'],
  'nothing-said.vendor.example': [''],
  'a-name.vendor.example': ['localhost'],
  'crowd.vendor.example': Array.from({ length: 65 }, (_, i) => `93.184.216.${i}`),
};

/** The whole corpus: also what is spelled plainly and leads where only a development server may go, if any may. */
export const REFUSED_URLS: readonly RefusedUrl[] = [
  ...MISSPELLED,
  ...of('loopback', [
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[0000::0001]/',
    'https://127.0.0.1:8443/x?y=z',
  ]),
  ...of(
    'IPv4',
    [...V4_TARGETS.map(PLAIN), ...REFUSED_V4].map((address) => `http://${address}:8080/`),
  ),
  ...of(
    'IPv6',
    REFUSED_V6.map((address) => `http://[${address}]/`),
  ),
  ...of(
    'local name',
    LOCAL_NAMES.map((name) => `https://${name}/`),
  ),
  ...of(
    'resolved',
    Object.keys(SCRIPTED_NAMES).map((name) => `https://${name}/pay`),
  ),
];
