/**
 * The loops over the bytes of a message that brings sound, in WebAssembly. V8 asks before each access to a socket's bytes
 * whether they were given away, which made reading a frame of sound dearer than judging it.
 */
import { startWasm } from '../wasm.ts';

/** The longest message. */
export const MOST_BYTES = 1024 * 1024;
/** Members of a message, those of its nested object included. */
const MOST_MEMBERS = 32;

/** The words that names and values are looked up in, each of at most 15 letters. */
export const WORDS = [
  ...['event', 'media', 'track', 'inbound', 'timestamp', 'payload'],
  ...['type', 'audio', 'event_id'],
] as const;
export type Word = (typeof WORDS)[number];

const PAGE = 65_536;
/** Four bytes for each character: its six bits; negative for what is none of base64. */
const SIX_BITS = 0;
const WORD_BYTES = 16;
const WORD_LETTERS = 1_024;
const WORD_LENGTHS = WORD_LETTERS + WORDS.length * WORD_BYTES;
const ROWS = 2_048;
const ROW_BYTES = 20;
/** Numbers of a row. */
export const ROW = ROW_BYTES / 4;
const ROWS_END = ROWS + MOST_MEMBERS * ROW_BYTES;
export const MESSAGE = PAGE;
/** Behind a message stands a zero, which ends whatever is read; vectors reach beyond it. */
export const DECODED = MESSAGE + MOST_BYTES + PAGE;
const PAGES = DECODED / PAGE + Math.ceil((MOST_BYTES * 3) / 4 / PAGE);

const isByte = (local: string, byte: number) => `(i32.eq (local.get ${local}) (i32.const ${byte}))`;
const byteAt = (place: string) => `(i32.load8_u (local.get ${place}))`;
export const OPEN = 0x7b;
const [QUOTE, BACKSLASH, COLON, COMMA, CLOSE] = [0x22, 0x5c, 0x3a, 0x2c, 0x7d];

const MODULE = `
(module
  (memory (export "memory") ${PAGES})
  (global $row (mut i32) (i32.const 0))

  ;; Skips JSON white space.
  (func $blanks (param $at i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $byte ${byteAt('$at')})
      (if (i32.or
            (i32.or ${isByte('$byte', 0x20)} ${isByte('$byte', 0x0a)})
            (i32.or ${isByte('$byte', 0x0d)} ${isByte('$byte', 0x09)}))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $at))

  ;; The closing quote of the text whose opening quote is at $at; -1 where there is no plain ASCII text.
  (func $text (param $at i32) (result i32)
    (local $bytes v128) (local $found i32)
    (if (i32.ne ${byteAt('$at')} (i32.const ${QUOTE})) (then (return (i32.const -1))))
    (local.set $at (i32.add (local.get $at) (i32.const 1)))
    (loop $sixteen
      (local.set $bytes (v128.load (local.get $at)))
      (local.set $found (i8x16.bitmask
        (v128.or
          (v128.or
            (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const ${QUOTE})))
            (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const ${BACKSLASH}))))
          (v128.or
            (i8x16.lt_s (local.get $bytes) (i8x16.splat (i32.const 0x20)))
            (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x7f)))))))
      (if (i32.eqz (local.get $found))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $sixteen))))
    (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
    (select (local.get $at) (i32.const -1) (i32.eq ${byteAt('$at')} (i32.const ${QUOTE}))))

  ;; Which word these letters are, counted from 1; 0 for none.
  (func $word (param $from i32) (param $letters i32) (result i32)
    (local $word i32) (local $mask i32)
    (if (i32.ge_u (local.get $letters) (i32.const ${WORD_BYTES})) (then (return (i32.const 0))))
    (local.set $mask
      (i32.sub (i32.shl (i32.const 1) (local.get $letters)) (i32.const 1)))
    (loop $next
      (if (i32.eq
            (i32.load8_u offset=${WORD_LENGTHS} (local.get $word))
            (local.get $letters))
        (then
          (if (i32.eq
                (i32.and
                  (local.get $mask)
                  (i8x16.bitmask
                    (i8x16.eq
                      (v128.load (local.get $from))
                      (v128.load offset=${WORD_LETTERS}
                        (i32.mul (local.get $word) (i32.const ${WORD_BYTES}))))))
                (local.get $mask))
            (then (return (i32.add (local.get $word) (i32.const 1)))))))
      (local.set $word (i32.add (local.get $word) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $word) (i32.const ${WORDS.length}))))
    (i32.const 0))

  ;; Writes a row for each member of the object at $at, and returns where it ends; -1 where it is not of texts, but for an
  ;; object of texts within the outer one.
  (func $object (param $at i32) (param $depth i32) (result i32)
    (local $end i32) (local $row i32)
    (if (i32.ne ${byteAt('$at')} (i32.const ${OPEN})) (then (return (i32.const -1))))
    (loop $member
      (local.set $at (call $blanks (i32.add (local.get $at) (i32.const 1))))
      (local.set $end (call $text (local.get $at)))
      (local.set $row (global.get $row))
      (if (i32.or
            (i32.lt_s (local.get $end) (i32.const 0))
            (i32.eq (local.get $row) (i32.const ${ROWS_END})))
        (then (return (i32.const -1))))
      (global.set $row (i32.add (local.get $row) (i32.const ${ROW_BYTES})))
      (i32.store (local.get $row)
        (call $word
          (i32.add (local.get $at) (i32.const 1))
          (i32.sub (i32.sub (local.get $end) (local.get $at)) (i32.const 1))))
      (i32.store offset=4 (local.get $row) (local.get $depth))
      (local.set $at (call $blanks (i32.add (local.get $end) (i32.const 1))))
      (if (i32.ne ${byteAt('$at')} (i32.const ${COLON})) (then (return (i32.const -1))))
      (local.set $at (call $blanks (i32.add (local.get $at) (i32.const 1))))
      (i32.store offset=8 (local.get $row) (local.get $at))
      (i32.store offset=16 (local.get $row) (i32.const 0))
      (if (i32.eq ${byteAt('$at')} (i32.const ${OPEN}))
        (then
          (if (local.get $depth) (then (return (i32.const -1))))
          (local.set $end (call $object (local.get $at) (i32.const 1))))
        (else
          (local.set $end (call $text (local.get $at)))
          (i32.store offset=16 (local.get $row)
            (call $word
              (i32.add (local.get $at) (i32.const 1))
              (i32.sub (i32.sub (local.get $end) (local.get $at)) (i32.const 1))))))
      (if (i32.lt_s (local.get $end) (i32.const 0)) (then (return (i32.const -1))))
      (i32.store offset=12 (local.get $row) (local.get $end))
      (local.set $at (call $blanks (i32.add (local.get $end) (i32.const 1))))
      (br_if $member (i32.eq ${byteAt('$at')} (i32.const ${COMMA}))))
    (select (local.get $at) (i32.const -1) (i32.eq ${byteAt('$at')} (i32.const ${CLOSE}))))

  ;; How many rows the message before $end has; -1 where it is not of this shape.
  (func (export "scan") (param $end i32) (result i32)
    (local $at i32)
    (global.set $row (i32.const ${ROWS}))
    (local.set $at (call $object (call $blanks (i32.const ${MESSAGE})) (i32.const 0)))
    (if (i32.lt_s (local.get $at) (i32.const 0)) (then (return (i32.const -1))))
    (if (i32.ne (call $blanks (i32.add (local.get $at) (i32.const 1))) (local.get $end))
      (then (return (i32.const -1))))
    (i32.div_u (i32.sub (global.get $row) (i32.const ${ROWS})) (i32.const ${ROW_BYTES})))

  ;; Decodes whole groups of four characters of base64, and returns where the first that is none of them begins.
  (func (export "fours") (param $at i32) (result i32)
    (local $to i32) (local $bits i32)
    (local.set $to (i32.const ${DECODED}))
    (block $none
      (loop $four
        (local.set $bits
          (i32.or
            (i32.or ${shifted(0, 18)} ${shifted(1, 12)})
            (i32.or ${shifted(2, 6)} ${shifted(3, 0)})))
        (br_if $none (i32.lt_s (local.get $bits) (i32.const 0)))
        (i32.store8 (local.get $to) (i32.shr_u (local.get $bits) (i32.const 16)))
        (i32.store8 offset=1 (local.get $to) (i32.shr_u (local.get $bits) (i32.const 8)))
        (i32.store8 offset=2 (local.get $to) (local.get $bits))
        (local.set $to (i32.add (local.get $to) (i32.const 3)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $four)))
    (local.get $at)))
`;

function shifted(character: number, bits: number): string {
  const byte = `(i32.load8_u offset=${character} (local.get $at))`;
  return `(i32.shl (i32.load (i32.shl ${byte} (i32.const 2))) (i32.const ${bits}))`;
}

export const { fours, memory, scan } = startWasm<{
  readonly memory: { readonly buffer: ArrayBuffer };
  scan(end: number): number;
  fours(at: number): number;
}>(MODULE);

/** All of the memory: the message from `MESSAGE` on, and what was decoded of it from `DECODED` on. */
export const bytes = new Uint8Array(memory.buffer);
/** Of each member: its name's word, its depth, the first and the last byte of its value, and the word of that. */
export const rows = new Int32Array(memory.buffer, ROWS, (MOST_MEMBERS * ROW_BYTES) / 4);
/** The six bits that a character stands for; negative: none. */
export const sixBits = new Int32Array(memory.buffer, SIX_BITS, 256).fill(-1);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((char, bits) => {
  sixBits[char.charCodeAt(0)] = bits;
});
// Both base64 alphabets are accepted.
sixBits['-'.charCodeAt(0)] = 62;
sixBits['_'.charCodeAt(0)] = 63;
WORDS.forEach((word, i) => {
  bytes.set(Buffer.from(word), WORD_LETTERS + i * WORD_BYTES);
  bytes[WORD_LENGTHS + i] = word.length;
});
