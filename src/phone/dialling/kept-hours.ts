import { type CallingHours, isWithinHours } from './calling-hours.ts';
import { zonesToKeep } from './dialling-guard.ts';

const isAnyHour = ({ from, until }: CallingHours): boolean => from === 0 && until === 24;

const DAY_MS = 86_400_000;
/** Zones differ by quarters of an hour. */
const STEP_MS = 900_000;

/** Hours that are all kept for a number, in its own place. */
export class KeptHours {
  readonly #hours: readonly CallingHours[];
  readonly #opens = new Map<string, boolean>();

  constructor(hours: readonly (CallingHours | undefined)[]) {
    this.#hours = hours.filter((given) => given !== undefined).filter((given) => !isAnyHour(given));
  }

  /** Returns true when a number may be called at an instant. */
  async admit(to: string, nowMs: number): Promise<boolean> {
    if (this.#hours.length === 0) return true;
    const zones = await zonesToKeep(to);
    return zones === undefined || this.#areKept(zones, nowMs);
  }

  /** Returns true when a number may be called at some time within the 24 hours after an instant. */
  async everAdmit(to: string, fromMs: number): Promise<boolean> {
    if (this.#hours.length === 0) return true;
    const zones = await zonesToKeep(to);
    if (zones === undefined) return true;
    const key = zones.join();
    const opens = this.#opens.get(key) ?? this.#opensWithinDay(zones, fromMs);
    this.#opens.set(key, opens);
    return opens;
  }

  #opensWithinDay(zones: readonly string[], fromMs: number): boolean {
    for (let ms = 0; ms < DAY_MS; ms += STEP_MS) {
      if (this.#areKept(zones, fromMs + ms)) return true;
    }
    return false;
  }

  #areKept(zones: readonly string[], nowMs: number): boolean {
    return this.#hours.every((hours) => isWithinHours(hours, zones, nowMs));
  }
}
