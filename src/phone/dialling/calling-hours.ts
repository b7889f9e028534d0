import { zonesOfAreaCode } from './nanp-zones.ts';

/**
 * Hours of the day in which calls are allowed: from the start of hour `from` to the start of hour `until`, past midnight when
 * `until` is smaller.
 */
export type CallingHours = { readonly from: number; readonly until: number };

/** Time zones at both ends of a country, which apply to an area code that is not in the table of area codes. */
const WIDEST: Readonly<Record<string, readonly string[]>> = {
  US: ['America/New_York', 'Pacific/Honolulu'],
  CA: ['America/St_Johns', 'America/Vancouver'],
};

const NORTH_AMERICAN = /^\+1(\d{3})/;

/** Returns the time zones that a number may be in. Empty when no zone of its country is known. */
export function zonesOf(phoneNumber: string, country: string): readonly string[] {
  const areaCode = NORTH_AMERICAN.exec(phoneNumber)?.[1];
  const known = areaCode === undefined ? undefined : zonesOfAreaCode(areaCode);
  return known ?? WIDEST[country] ?? zonesOfCountry(country);
}

/** Returns true when it is one of these hours in every zone, and there is at least one zone. */
export function isWithinHours(
  { from, until }: CallingHours,
  zones: readonly string[],
  nowMs: number,
): boolean {
  return (
    zones.length > 0 &&
    zones.every((zone) => {
      const hour = hourIn(zone, nowMs);
      return from < until ? hour >= from && hour < until : hour >= from || hour < until;
    })
  );
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function hourIn(timeZone: string, nowMs: number): number {
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' });
    clocks.set(timeZone, clock);
  }
  return Number(clock.format(nowMs));
}

/** Members of `Intl.Locale` that TypeScript's types lack: a method in newer versions of Node.js, a property in Node.js 20. */
type WithZones = {
  readonly timeZones?: readonly string[];
  getTimeZones?(): readonly string[] | undefined;
};

function zonesOfCountry(country: string): readonly string[] {
  const locale = new Intl.Locale('und', { region: country }) as Intl.Locale & WithZones;
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}
