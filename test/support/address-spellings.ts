/** Ways to write one IPv4 address, given its four bytes: what URL readers, resolvers and people take for it. */
export type Spelling = (bytes: readonly [number, number, number, number]) => string;

const hex = (value: number, digits = 2) => value.toString(16).padStart(digits, '0');
const number = ([a, b, c, d]: readonly number[]) =>
  (((a ?? 0) * 256 + (b ?? 0)) * 256 + (c ?? 0)) * 256 + (d ?? 0);
const word = (high: number, low: number) => hex(high * 256 + low, 4);
const digits = (text: string, zero: number) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
const circled = (text: string) =>
  text.replace(/\d/g, (digit) =>
    digit === '0' ? '⓪' : String.fromCodePoint(0x245f + Number(digit)),
  );
const percent = (text: string) =>
  [...text].map((character) => `%${hex(character.charCodeAt(0))}`).join('');

export const PLAIN: Spelling = (bytes) => bytes.join('.');

/** None of them is the usual one, so that all are refused whatever the address is. */
export const ODD_SPELLINGS: Readonly<Record<string, Spelling>> = {
  decimal: (bytes) => String(number(bytes)),
  'hex number': (bytes) => `0x${hex(number(bytes), 8)}`,
  'hex number in capitals': (bytes) => `0X${hex(number(bytes), 8).toUpperCase()}`,
  'hex number with zeros': (bytes) => `0x0000${hex(number(bytes), 8)}`,
  'octal number': (bytes) => `0${number(bytes).toString(8)}`,
  'hex parts': (bytes) => bytes.map((byte) => `0x${hex(byte)}`).join('.'),
  'octal parts': (bytes) => bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
  'long octal parts': (bytes) => bytes.map((byte) => `0000${byte.toString(8)}`).join('.'),
  'first part octal': ([a, ...rest]) => [`0${a.toString(8)}`, ...rest].join('.'),
  'last part hex': ([a, b, c, d]) => `${a}.${b}.${c}.0x${hex(d)}`,
  'mixed parts': ([a, b, c, d]) => `0x${hex(a)}.0${b.toString(8)}.${c}.${d}`,
  'three parts': ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  'two parts': ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  'two parts in hex': ([a, b, c, d]) => `0x${hex(a)}.0x${hex(b)}${hex(c)}${hex(d)}`,
  'trailing dot': (bytes) => `${bytes.join('.')}.`,
  'full-width digits': (bytes) => digits(bytes.join('.'), 0xff10),
  'mathematical digits': (bytes) => digits(bytes.join('.'), 0x1d7ce),
  'circled digits': (bytes) => circled(bytes.join('.')),
  'full-width dots': (bytes) => bytes.join('．'),
  'ideographic dots': (bytes) => bytes.join('。'),
  'half-width ideographic dots': (bytes) => bytes.join('｡'),
  'percent-encoded': (bytes) => percent(bytes.join('.')),
  'soft hyphen': (bytes) => bytes.join('.\u00ad'),
  'zero-width space': (bytes) => `${bytes.join('.')}\u200b`,
  'after a user name': (bytes) => `vendor.example@${bytes.join('.')}`,
  'after a user name and a password': (bytes) => `vendor.example:443@${bytes.join('.')}`,
  'mapped in IPv6': ([a, b, c, d]) => `[::ffff:${word(a, b)}:${word(c, d)}]`,
  'mapped in IPv6 with dots': (bytes) => `[::ffff:${bytes.join('.')}]`,
  'mapped in long IPv6': ([a, b, c, d]) => `[0:0:0:0:0:FFFF:${word(a, b)}:${word(c, d)}]`,
  'compatible in IPv6': ([a, b, c, d]) => `[::${word(a, b)}:${word(c, d)}]`,
  'compatible in IPv6 with dots': (bytes) => `[::${bytes.join('.')}]`,
  'translated in IPv6': ([a, b, c, d]) => `[::ffff:0:${word(a, b)}:${word(c, d)}]`,
  NAT64: ([a, b, c, d]) => `[64:ff9b::${word(a, b)}:${word(c, d)}]`,
  'NAT64 with dots': (bytes) => `[64:ff9b::${bytes.join('.')}]`,
  'local NAT64': ([a, b, c, d]) => `[64:ff9b:1::${word(a, b)}:${word(c, d)}]`,
  '6to4': ([a, b, c, d]) => `[2002:${word(a, b)}:${word(c, d)}::1]`,
  Teredo: ([a, b, c, d]) =>
    `[2001:0:4136:e378:8000:63bf:${word(255 - a, 255 - b)}:${word(255 - c, 255 - d)}]`,
  ISATAP: ([a, b, c, d]) => `[2607:f8b0:4004:800:0:5efe:${word(a, b)}:${word(c, d)}]`,
  'ISATAP, global': ([a, b, c, d]) => `[2607:f8b0:4004:800:200:5efe:${word(a, b)}:${word(c, d)}]`,
};
