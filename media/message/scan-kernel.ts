/**
 * The loops over the bytes of a message with audio, in WebAssembly. V8 checks before each access to a socket's bytes whether
 * the memory was detached, which made reading a frame of audio more expensive than evaluating it.
 */
import { startWasm } from '../wasm.ts';

/** Bytes of the longest message. */
export const MOST_BYTES = 1024 * 1024;

/** Words that member names and values are compared with. A word has at most 31 letters. */
export const WORDS = [
  ...(['event', 'media', 'track', 'inbound', 'timestamp', 'payload', 'type', 'audio'] as const),
  ...(['event_id', 'input_audio_buffer.append', 'session.input_audio.append'] as const),
] as const;

const PAGE = 65_536;
/** Offset of a table with four bytes for each character: its six bits, or a negative number for a character outside base64. */
const SIX_BITS = 0;
const WORD_BYTES = 32;
const WORD_LETTERS = 1_024;
const WORD_LENGTHS = WORD_LETTERS + WORDS.length * WORD_BYTES;
/**
 * Table of three numbers for each word as a member's name: the first and the last byte of the value, and the value's own word.
 */
const SLOTS = 2_048;
const SLOT_BYTES = 12;
/** Number by which a member of an inner object follows the same member of the outer object. */
export const INNER = 16;
const MESSAGE = PAGE;
/** Offset of the decoded bytes. A zero after a message ends every read of the message; vectors read beyond that zero. */
const DECODED = MESSAGE + MOST_BYTES + PAGE;
const PAGES = DECODED / PAGE + Math.ceil((MOST_BYTES * 3) / 4 / PAGE);
/** Upper bound of a number's digits. A number of more digits might not be a whole number that a double can hold exactly. */
const MOST_DIGITS = 15;

const [QUOTE, BACKSLASH, COLON, COMMA, PAD] = [0x22, 0x5c, 0x3a, 0x2c, 0x3d];
const [OPEN, CLOSE, ZERO] = [0x7b, 0x7d, 0x30];

const int = (value: number) => `(i32.const ${value})`;
const local = (name: string) => `(local.get ${name})`;
const plus = (name: string, more: number) => `(i32.add ${local(name)} ${int(more)})`;
const byteAt = (name: string, offset = 0) => `(i32.load8_u offset=${offset} ${local(name)})`;
const isByte = (name: string, byte: number) => `(i32.eq ${local(name)} ${int(byte)})`;
const sixAt = (offset: number, name = '$at') =>
  `(i32.load (i32.shl ${byteAt(name, offset)} ${int(2)}))`;
const bytesBefore = (name: string) => `(i32.sub (i32.shl ${int(1)} ${local(name)}) ${int(1)})`;
const slotPart = (part: number) =>
  `(i32.load offset=${SLOTS + 4 * part} (i32.mul ${local('$slot')} ${int(SLOT_BYTES)}))`;

/** Returns WebAssembly that is true when sixteen bytes equal the bytes of a word under `mask`. */
const isPart = (offset: number, mask: string) => `(i32.eqz
  (i32.and ${mask}
    (i32.xor ${int(0xffff)}
      (i8x16.bitmask
        (i8x16.eq
          (v128.load offset=${offset} ${local('$from')})
          (v128.load offset=${WORD_LETTERS + offset} (i32.mul ${local('$word')} ${int(WORD_BYTES)})))))))`;

const MODULE = `
(module
  (memory (export "memory") ${PAGES})
  ;; Which words are names, a bit each, of the outer object and of the inner one; bit 0: another name was.
  (global $outer (mut i32) ${int(0)})
  (global $inner (mut i32) ${int(0)})
  ;; Which names have an object for a value.
  (global $objects (mut i32) ${int(0)})

  ;; Skips JSON white space.
  (func $blanks (param $at i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $byte ${byteAt('$at')})
      (if (i32.or
            (i32.or ${isByte('$byte', 0x20)} ${isByte('$byte', 0x0a)})
            (i32.or ${isByte('$byte', 0x0d)} ${isByte('$byte', 0x09)}))
        (then
          (local.set $at ${plus('$at', 1)})
          (br $next))))
    ${local('$at')})

  ;; The closing quote of the text whose opening quote is at $at; -1 where there is no plain ASCII text.
  (func $text (param $at i32) (result i32)
    (local $bytes v128) (local $found i32)
    (if (i32.ne ${byteAt('$at')} ${int(QUOTE)}) (then (return ${int(-1)})))
    (local.set $at ${plus('$at', 1)})
    (loop $sixteen
      (local.set $bytes (v128.load ${local('$at')}))
      (local.set $found (i8x16.bitmask
        (v128.or
          (v128.or
            (i8x16.eq ${local('$bytes')} (i8x16.splat ${int(QUOTE)}))
            (i8x16.eq ${local('$bytes')} (i8x16.splat ${int(BACKSLASH)})))
          (v128.or
            (i8x16.lt_s ${local('$bytes')} (i8x16.splat ${int(0x20)}))
            (i8x16.eq ${local('$bytes')} (i8x16.splat ${int(0x7f)}))))))
      (if (i32.eqz ${local('$found')})
        (then
          (local.set $at ${plus('$at', 16)})
          (br $sixteen))))
    (local.set $at (i32.add ${local('$at')} (i32.ctz ${local('$found')})))
    (select ${local('$at')} ${int(-1)} (i32.eq ${byteAt('$at')} ${int(QUOTE)})))

  ;; Which word these letters are, counted from 1; 0 for none.
  (func $word (param $from i32) (param $letters i32) (result i32)
    (local $word i32) (local $more i32)
    (if (i32.ge_u ${local('$letters')} ${int(WORD_BYTES)}) (then (return ${int(0)})))
    (if (i32.gt_u ${local('$letters')} ${int(16)})
      (then (local.set $more (i32.sub ${local('$letters')} ${int(16)}))))
    (loop $next
      (if (i32.eq (i32.load8_u offset=${WORD_LENGTHS} ${local('$word')}) ${local('$letters')})
        (then
          (if (i32.and
                ${isPart(0, bytesBefore('$letters'))}
                ${isPart(16, bytesBefore('$more'))})
            (then (return ${plus('$word', 1)})))))
      (local.set $word ${plus('$word', 1)})
      (br_if $next (i32.lt_u ${local('$word')} ${int(WORDS.length)})))
    ${int(0)})

  ;; Reads the members of the object at $at, and returns where it ends; -1 where it is not of texts, but for objects of
  ;; texts within the outer one, or has one of the words twice.
  (func $object (param $at i32) (param $isInner i32) (result i32)
    (local $end i32) (local $name i32) (local $bit i32) (local $slot i32) (local $value i32)
    (if (i32.ne ${byteAt('$at')} ${int(OPEN)}) (then (return ${int(-1)})))
    (loop $member
      (local.set $at (call $blanks ${plus('$at', 1)}))
      (local.set $end (call $text ${local('$at')}))
      (if (i32.lt_s ${local('$end')} ${int(0)}) (then (return ${int(-1)})))
      (local.set $name
        (call $word ${plus('$at', 1)} (i32.sub (i32.sub ${local('$end')} ${local('$at')}) ${int(1)})))
      (local.set $bit (i32.shl ${int(1)} ${local('$name')}))
      (if (i32.and
            (i32.and ${local('$bit')} ${int(-2)})
            (select (global.get $inner) (global.get $outer) ${local('$isInner')}))
        (then (return ${int(-1)})))
      (if ${local('$isInner')}
        (then (global.set $inner (i32.or (global.get $inner) ${local('$bit')})))
        (else (global.set $outer (i32.or (global.get $outer) ${local('$bit')}))))
      (local.set $at (call $blanks ${plus('$end', 1)}))
      (if (i32.ne ${byteAt('$at')} ${int(COLON)}) (then (return ${int(-1)})))
      (local.set $at (call $blanks ${plus('$at', 1)}))
      (local.set $value ${int(0)})
      (if (i32.eq ${byteAt('$at')} ${int(OPEN)})
        (then
          (if ${local('$isInner')} (then (return ${int(-1)})))
          (global.set $objects (i32.or (global.get $objects) ${local('$bit')}))
          (local.set $end (call $object ${local('$at')} ${int(1)})))
        (else
          (local.set $end (call $text ${local('$at')}))
          (local.set $value
            (call $word
              ${plus('$at', 1)}
              (i32.sub (i32.sub ${local('$end')} ${local('$at')}) ${int(1)})))))
      (if (i32.lt_s ${local('$end')} ${int(0)}) (then (return ${int(-1)})))
      (local.set $slot
        (i32.mul
          (i32.add ${local('$name')} (i32.mul ${local('$isInner')} ${int(INNER)}))
          ${int(SLOT_BYTES)}))
      (i32.store offset=${SLOTS} ${local('$slot')} ${local('$at')})
      (i32.store offset=${SLOTS + 4} ${local('$slot')} ${local('$end')})
      (i32.store offset=${SLOTS + 8} ${local('$slot')} ${local('$value')})
      (local.set $at (call $blanks ${plus('$end', 1)}))
      (br_if $member (i32.eq ${byteAt('$at')} ${int(COMMA)})))
    (select ${local('$at')} ${int(-1)} (i32.eq ${byteAt('$at')} ${int(CLOSE)})))

  ;; Whether the message of so many bytes is of this shape.
  (func (export "scan") (param $bytes i32) (result i32)
    (local $at i32)
    (i32.store8 offset=${MESSAGE} ${local('$bytes')} ${int(0)})
    (global.set $outer ${int(0)})
    (global.set $inner ${int(0)})
    (global.set $objects ${int(0)})
    (local.set $at (call $object (call $blanks ${int(MESSAGE)}) ${int(0)}))
    (if (i32.lt_s ${local('$at')} ${int(0)}) (then (return ${int(0)})))
    (i32.eq (call $blanks ${plus('$at', 1)}) ${plus('$bytes', MESSAGE)}))

  (func (export "outer") (result i32) (global.get $outer))
  (func (export "inner") (result i32) (global.get $inner))
  (func (export "objects") (result i32) (global.get $objects))

  (func (export "value") (param $slot i32) (result i32) ${slotPart(2)})

  (func (export "letters") (param $slot i32) (result i32)
    (i32.sub (i32.sub ${slotPart(1)} ${slotPart(0)}) ${int(1)}))

  ;; The whole number that a text is; -1: none.
  (func (export "number") (param $slot i32) (result f64)
    (local $at i32) (local $end i32) (local $digit i32) (local $value f64)
    (local.set $at (i32.add ${slotPart(0)} ${int(1)}))
    (local.set $end ${slotPart(1)})
    (if (i32.gt_u
          (i32.sub (i32.sub ${local('$end')} ${local('$at')}) ${int(1)})
          ${int(MOST_DIGITS - 1)})
      (then (return (f64.const -1))))
    (loop $next
      (local.set $digit (i32.sub ${byteAt('$at')} ${int(ZERO)}))
      (if (i32.gt_u ${local('$digit')} ${int(9)}) (then (return (f64.const -1))))
      (local.set $value
        (f64.add
          (f64.mul ${local('$value')} (f64.const 10))
          (f64.convert_i32_u ${local('$digit')})))
      (local.set $at ${plus('$at', 1)})
      (br_if $next (i32.lt_u ${local('$at')} ${local('$end')})))
    ${local('$value')})

  ;; Decodes a text of base64, and returns how many bytes it has; -1 where it is none. Padding is whole, or absent.
  (func (export "decode") (param $slot i32) (result i32)
    (call $decode (i32.add ${slotPart(0)} ${int(1)}) ${slotPart(1)}))

  ;; The same of so many characters that lie where a message does.
  (func (export "decodeAll") (param $characters i32) (result i32)
    (i32.store8 offset=${MESSAGE} ${local('$characters')} ${int(0)})
    (call $decode ${int(MESSAGE)} ${plus('$characters', MESSAGE)}))

  (func $decode (param $at i32) (param $end i32) (result i32)
    (local $to i32) (local $bits i32) (local $rest i32)
    (block $few
      (loop $four
        (local.set $bits
          (i32.or
            (i32.or
              (i32.shl ${sixAt(0)} ${int(18)})
              (i32.shl ${sixAt(1)} ${int(12)}))
            (i32.or (i32.shl ${sixAt(2)} ${int(6)}) ${sixAt(3)})))
        (br_if $few (i32.lt_s ${local('$bits')} ${int(0)}))
        (i32.store8 offset=${DECODED} ${local('$to')} (i32.shr_u ${local('$bits')} ${int(16)}))
        (i32.store8 offset=${DECODED + 1} ${local('$to')} (i32.shr_u ${local('$bits')} ${int(8)}))
        (i32.store8 offset=${DECODED + 2} ${local('$to')} ${local('$bits')})
        (local.set $to ${plus('$to', 3)})
        (local.set $at ${plus('$at', 4)})
        (br $four)))
    (local.set $rest (i32.sub ${local('$end')} ${local('$at')}))
    (if (i32.eqz ${local('$rest')}) (then (return ${local('$to')})))
    ;; Two or three characters, alone or filled up to four.
    (if (i32.or (i32.lt_u ${local('$rest')} ${int(2)}) (i32.gt_u ${local('$rest')} ${int(4)}))
      (then (return ${int(-1)})))
    (local.set $bits (i32.or (i32.shl ${sixAt(0)} ${int(6)}) ${sixAt(1)}))
    (if (i32.lt_s ${local('$bits')} ${int(0)}) (then (return ${int(-1)})))
    (i32.store8 offset=${DECODED} ${local('$to')} (i32.shr_u ${local('$bits')} ${int(4)}))
    (local.set $to ${plus('$to', 1)})
    (if (i32.eq ${local('$rest')} ${int(2)}) (then (return ${local('$to')})))
    (if (i32.and
          (i32.eq ${local('$rest')} ${int(4)})
          (i32.ne ${byteAt('$at', 3)} ${int(PAD)}))
      (then (return ${int(-1)})))
    (if (i32.eq ${byteAt('$at', 2)} ${int(PAD)})
      (then (return (select ${local('$to')} ${int(-1)} (i32.eq ${local('$rest')} ${int(4)})))))
    (local.set $bits (i32.or (i32.shl ${local('$bits')} ${int(6)}) ${sixAt(2)}))
    (if (i32.lt_s ${local('$bits')} ${int(0)}) (then (return ${int(-1)})))
    (i32.store8 offset=${DECODED} ${local('$to')} (i32.shr_u ${local('$bits')} ${int(2)}))
    ${plus('$to', 1)}))
`;

/** Exports of the scan kernel. A `slot` is a word's code, or the code plus `INNER` for a member of an inner object. */
type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer };
  scan(bytes: number): number;
  outer(): number;
  inner(): number;
  objects(): number;
  value(slot: number): number;
  letters(slot: number): number;
  number(slot: number): number;
  decode(slot: number): number;
  decodeAll(characters: number): number;
};

export const kernel = startWasm<Exports>(MODULE);

const { buffer } = kernel.memory;
/** The kernel's memory for the message to scan. */
export const message = Buffer.from(buffer, MESSAGE, MOST_BYTES);
/** The kernel's memory for the decoded base64 of the message. */
export const decoded = new Uint8Array(buffer, DECODED);

const sixBits = new Int32Array(buffer, SIX_BITS, 256).fill(-1);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((char, bits) => {
  sixBits[char.charCodeAt(0)] = bits;
});
// Both base64 alphabets, standard and URL, are accepted.
sixBits['-'.charCodeAt(0)] = 62;
sixBits['_'.charCodeAt(0)] = 63;
const words = Buffer.from(buffer);
WORDS.forEach((word, i) => {
  words.write(word, WORD_LETTERS + i * WORD_BYTES);
  words[WORD_LENGTHS + i] = word.length;
});
