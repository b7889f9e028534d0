const FRAME_MS = 20;
/** A frame whose mean amplitude is beyond this is a part of a word. */
const LOUD = 500;
const WORD_MS = 100;
const PAUSE_MS = 60;
/** Nobody speaks for so long: it is not known who has answered. */
const SILENT_MS = 4_000;
/** A person says a short greeting and waits; a machine goes on. */
const GREETING_MS = 1_800;
const WAITS_MS = 800;
const MOST_WORDS = 4;
/** The greeting of a machine is over after so long a silence, or so long after its begin. */
const END_SILENCE_MS = 1_500;
const LONGEST_MS = 40_000;

const AMPLITUDE = Uint16Array.from({ length: 256 }, (_, code) => {
  const bits = ~code & 0xff;
  return ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 0x07)) - 0x84;
});

function isLoud(frame) {
  let sum = 0;
  for (const code of frame) sum += AMPLITUDE[code];
  return sum > LOUD * frame.length;
}

/**
 * Tells a person from an answering machine by how they greet, as Asterisk's `AMD` does. `heard` takes the frames of the far
 * side in mu-law and returns Twilio's word once it is known; with `awaitsEnd`, that of a machine comes at the end of its greeting.
 */
export class MachineDetection {
  #awaitsEnd;
  #atMs = 0;
  #voiceMs = 0;
  #silenceMs = 0;
  #greetingMs = 0;
  #words = 0;
  #isMachine = false;
  #isOver = false;

  constructor(awaitsEnd) {
    this.#awaitsEnd = awaitsEnd;
  }

  heard(frame) {
    if (this.#isOver) return undefined;
    this.#atMs += FRAME_MS;
    if (isLoud(frame)) {
      this.#voiceMs += FRAME_MS;
      this.#greetingMs += FRAME_MS;
      this.#silenceMs = 0;
      if (this.#voiceMs === WORD_MS) this.#words++;
    } else {
      this.#silenceMs += FRAME_MS;
      if (this.#silenceMs >= PAUSE_MS) this.#voiceMs = 0;
    }
    const word = this.#verdict();
    this.#isOver = word !== undefined;
    return word;
  }

  #verdict() {
    if (this.#isMachine) {
      const isOver = this.#silenceMs >= END_SILENCE_MS || this.#atMs >= LONGEST_MS;
      return isOver ? 'machine_end_silence' : undefined;
    }
    if (this.#words === 0) return this.#atMs >= SILENT_MS ? 'unknown' : undefined;
    if (this.#greetingMs >= GREETING_MS || this.#words >= MOST_WORDS) {
      this.#isMachine = this.#awaitsEnd;
      return this.#awaitsEnd ? undefined : 'machine_start';
    }
    return this.#silenceMs >= WAITS_MS ? 'human' : undefined;
  }
}
