import { LIMITS } from '../../../kernel/limits.ts';

/** A schema that has no value here: it contradicts itself, is too large, or says what is not understood. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
}

/** What filling one schema may take: steps of work and characters of text, however the schema is made. */
export class SchemaWork {
  #steps = LIMITS.engines.schemaSteps;
  #chars = LIMITS.engines.schemaTextChars;

  spend(steps = 1): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new SchemaRefused('takes too much work to satisfy');
  }

  /** Throws before a text of so many characters is written. */
  write(chars: number): void {
    if (chars > this.#chars) throw new SchemaRefused('asks for too long a text');
    this.spend(1 + chars / CHARS_PER_STEP);
  }
}

const CHARS_PER_STEP = 64;
