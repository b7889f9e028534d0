import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { RESPONSES_LIMITS } from '../limits.ts';

/**
 * Parameter of the function that replaces a custom tool, because chat has only functions. The parameter holds the tool's
 * plain-text input.
 */
const MEMBER = 'input';

const PARAMETERS: Json = {
  type: 'object',
  properties: { [MEMBER]: { type: 'string', description: 'The whole input, as plain text.' } },
  required: [MEMBER],
  additionalProperties: false,
};

/**
 * Returns the function that replaces a custom tool in chat. No chat vendor enforces a grammar, so the description states the
 * grammar.
 */
export function functionOfCustom({ description, format, name }: Json): Json {
  const { definition, syntax, type } = isObject(format) ? format : {};
  const texts = [
    ...(typeof description === 'string' ? [description] : []),
    `Put the input of this tool into "${MEMBER}", as one plain text.`,
    ...(type === 'grammar'
      ? [`The text has to follow this ${String(syntax)} grammar:\n${String(definition)}`]
      : []),
  ];
  return { name, description: texts.join('\n\n'), parameters: PARAMETERS };
}

/** Returns the arguments of the function that replaces a custom tool, with `input` as the tool's input. */
export const customArguments = (input: string): string => JSON.stringify({ [MEMBER]: input });

const HEAD = new RegExp(`^\\s*\\{\\s*"${MEMBER}"\\s*:\\s*"`);
/** Characters within which arguments must begin with the member. Others are read when they are whole. */
const HEAD_CHARS = 64;
const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Decodes the input of a custom tool from the arguments of its function while they arrive. Returns each piece as soon as it is
 * complete: no escape and no surrogate pair is split. Arguments of another form are themselves the input.
 */
export class CustomInput {
  #state: 'head' | 'text' | 'over' | 'other' = 'head';
  /** Characters of the arguments that are not decoded yet. */
  #rest = '';
  #input = '';

  /** Input of the tool, up to the last piece that has come. */
  get input(): string {
    return this.#input;
  }

  /** Adds a piece of the arguments, and returns the input that it completes. */
  push(piece: string): string {
    if (this.#state === 'over') return '';
    this.#rest += piece;
    if (this.#state === 'head') this.#readHead();
    return this.#state === 'text' ? this.#add(this.#decode()) : '';
  }

  /** Ends the arguments, and returns the remaining input of the tool. */
  end(): string {
    const rest = this.#rest;
    this.#rest = '';
    if (this.#state === 'text') return this.#add(rest);
    return this.#state === 'over' ? '' : this.#add(inputWithin(rest));
  }

  #add(text: string): string {
    this.#input += text;
    return text;
  }

  #readHead(): void {
    const [head] = HEAD.exec(this.#rest.slice(0, HEAD_CHARS)) ?? [];
    if (head !== undefined) {
      this.#state = 'text';
      this.#rest = this.#rest.slice(head.length);
    } else if (this.#rest.length >= HEAD_CHARS) this.#state = 'other';
  }

  #decode(): string {
    const text = this.#rest;
    let decoded = '';
    let at = 0;
    while (at < text.length) {
      const next = nextMark(text, at);
      decoded += text.slice(at, next);
      at = next;
      if (text[at] === '"') {
        this.#state = 'over';
        this.#rest = '';
        return decoded;
      }
      const escaped = text[at] === '\\' ? readEscape(text, at) : undefined;
      if (escaped === undefined) break;
      decoded += escaped.char;
      at = escaped.end;
    }
    const isHalf = /[\ud800-\udbff]$/.test(decoded);
    this.#rest = (isHalf ? decoded.slice(-1) : '') + text.slice(at);
    return isHalf ? decoded.slice(0, -1) : decoded;
  }
}

/** Returns the index of the next quote or backslash, or of the end. */
function nextMark(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"' || char === '\\') return at;
  }
  return text.length;
}

/** Returns the character of an escape, and the index of its end. Undefined when the escape is incomplete. */
function readEscape(text: string, at: number): { char: string; end: number } | undefined {
  const kind = text[at + 1];
  if (kind === undefined) return undefined;
  if (kind !== 'u') return { char: ESCAPES[kind] ?? kind, end: at + 2 };
  const code = text.slice(at + 2, at + 6);
  if (code.length < 4) return undefined;
  return /^[0-9a-f]{4}$/i.test(code)
    ? { char: String.fromCharCode(Number.parseInt(code, 16)), end: at + 6 }
    : { char: kind, end: at + 2 };
}

/**
 * Returns the input in arguments of an unexpected form: some models use another member, or write the text without an object.
 */
function inputWithin(text: string): string {
  const told = tryParseJson(text, RESPONSES_LIMITS.answer.callJson);
  if (typeof told === 'string') return told;
  if (!isObject(told)) return text;
  if (typeof told[MEMBER] === 'string') return told[MEMBER];
  const values = Object.values(told);
  if (values.length === 0) return '';
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : text;
}
