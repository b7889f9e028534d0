import { ODD_SPELLINGS } from './address-spellings.ts';

export type RefusedUrl = { readonly family: string; readonly url: string };

export const V4_TARGETS = [
  [127, 0, 0, 1],
  [10, 0, 0, 1],
  [172, 16, 0, 1],
  [192, 168, 1, 1],
  [169, 254, 169, 254],
  [100, 100, 100, 200],
] as const;

export const of = (family: string, urls: readonly string[]): readonly RefusedUrl[] =>
  urls.map((url) => ({ family, url }));

/** By spaces and ends of lines only: the rest of white space may be what a URL is refused for. */
const words = (text: string) => text.split(/[ \n]+/).filter((word) => word !== '');

const SYNTAX = words(`
  http http: http:/ http:// http:/// https://? https://# //vendor.example /etc/passwd vendor.example vendor.example/pay
  http:vendor.example http:/vendor.example http:///vendor.example http:////vendor.example https:\\\\vendor.example
  http:/\\vendor.example ftp://vendor.example file:///etc/passwd gopher://vendor.example ws://vendor.example
  wss://vendor.example data:text/plain,x javascript:alert(1) blob:https://vendor.example/x dict://vendor.example:11211/
  ldap://vendor.example jar:http://vendor.example!/x unix:/var/run/docker.sock http+unix://%2Fvar%2Frun/x
  view-source:http://vendor.example`);

const USER_INFO = words(`
  https://user@vendor.example https://user:word@vendor.example https://@vendor.example https://:@vendor.example
  https://:word@vendor.example https://a@b@vendor.example https://vendor.example@[::1]/
  https://vendor.example%40localhost https://a%40b@vendor.example`);

const PORTS = words(`
  0 1 7 9 22 23 25 53 110 139 143 389 445 465 587 993 1433 1521 2049 3306 3389 5060 5432 5900 6000 6379 6667 9042 11211
  27017 65536 99999 4294967376 00 080 0080 +80 -1 80.0 8e1 0x50 ８０ 80:80 http %38%30 80%20`);

const CHARACTERS = [
  'http://vendor.example/a b',
  ' http://vendor.example/',
  'http://vendor.example/ ',
  'http://vendor.example/\r\nX: y',
  'http://vendor.example/\n',
  'http://ven\ndor.example/',
  ...words(`
    \thttp://vendor.example ht\ttp://vendor.example http://vendor.example/\0 http://vendor\0.example/
    http://vendor.example\u00a0/ http://vendor.example/\u2028 http://vendor.example/\ud800 http://vendor.example/\u007f
    http://vendor.example/\u3000 http://vendor.example\\@127.0.0.1/ http://127.0.0.1\\@vendor.example/
    http://vendor.example\\.localhost/ http:\\/vendor.example/ http://vendor.example/a\\b http://vendor.example/?q=\\
    http://vendor.example#\\`),
];

const HOSTS = words(`
  .vendor.example vendor..example vendor.example.. .. . - -.- _.- a-.example -a.example vendor.example._ vendor.1example
  vendor.example%00 vendor.example%2f vendor.example%5c vendor%2eexample %76endor.example % *.example
  vendor!.example ven$dor.example ven'dor.example ven(dor).example ven*dor.example vendor,example.com ven;dor.example
  ven=dor.example ven~dor.example ven\`dor.example ven{dor}.example <vendor>.example ven|dor.example ven^dor.example
  [vendor.example] [ ] [] [::1 ::1] ::1 [::1]x x[::1] [[::1]] [::1%25lo] [::1%lo] [fe80::1%25eth0]
  [2606:4700::1111%25eth0] [::1]. [v1.fe80::a] [:::1] [1:2:3:4:5:6:7:8:9] [::ffff:300.0.0.1] [g::1]
  [2606:4700::0x1111] 256.0.0.1 1.2.3.4.5 1.2.3.256 127.0.0.0x1g 0x 0x.0x.0x.0x 08.8.8.8 4294967296 99999999999
  127.0.0.1.vendor.1 vendor.127 1.2.3 0 00 8.8 xn-- xn--a xn--0.example xn--a-.example ${'a'.repeat(64)}.example
  ${'a.'.repeat(127)}example`);

/** Look-alikes that a reader maps to plain ASCII, and public addresses that hide what they are. */
const DISGUISES = words(`
  ｌｏｃａｌｈｏｓｔ ⓛocalhost loc\u00adalhost localhost\u200d LOCALHO\u017fT 𝓁ocalhost local\u2060host vendor。example
  vendor．example vendor｡example ｖendor.example vendo\u00adr.example \u212a.example ﬁ.example ①.example
  vendor.example\ufeff a\u202eb.example ㎏.example ℀.example １.example 0x8.0x8.0x8.0x8 134744072 010.010.010.010
  8.8.2056 8.8.8.8. [::ffff:8.8.8.8] [::808:808]`);

const atHost = (host: string) => `http://${host}/`;

/** URLs that must never be called, even by callers that may reach this machine: their spelling is refused. */
export const MISSPELLED: readonly RefusedUrl[] = [
  ...Object.entries(ODD_SPELLINGS).flatMap(([family, spell]) =>
    of(family, V4_TARGETS.map(spell).map(atHost)),
  ),
  ...of('syntax', ['', ' ', ...SYNTAX]),
  ...of('user info', USER_INFO),
  ...of(
    'port',
    ['', ...PORTS].map((port) => atHost(`vendor.example:${port}`)),
  ),
  ...of('characters', CHARACTERS),
  ...of('host', HOSTS.map(atHost)),
  ...of('disguise', DISGUISES.map(atHost)),
  ...of('length', [
    `https://vendor.example/${'a'.repeat(8_192)}`,
    `https://vendor.example/?${'%61'.repeat(2_731)}`,
  ]),
];
