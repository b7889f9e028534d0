import { assert } from '../../kernel/assert.ts';

/** Shutdown of a model by its vendor. */
export type Retirement = {
  /** Day of the shutdown, `YYYY-MM-DD`, as `GET /v1/models` lists it. */
  readonly shutdownDate: string;
  /**
   * Catalogue id of the model that the vendor names as the successor. Null: the vendor names none, or none that is listed here.
   */
  readonly successor: string | null;
  /** HTTP headers of every response of the model: `sunset`, and `deprecation` and `link` when they are known. */
  readonly headers: Readonly<Record<string, string>>;
};

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Returns the first millisecond of a day of the form `YYYY-MM-DD` in UTC; undefined for any other text. */
export function dayMs(day: string): number | undefined {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  // Not every month has every day: the 30th of February would be read as a day in March.
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(day) ? undefined : ms;
}

/**
 * Builds the HTTP headers of a shutdown once, because many answers carry them: `Sunset` (RFC 8594) has the first moment of the
 * day, `Deprecation` (RFC 9745) the vendor's notice, and `Link` the successor.
 */
export function retirementOf(shutdown: {
  readonly shutdownDate: string;
  /** Day of the vendor's notice. Undefined: the day is unknown, and the header `Deprecation` is left out. */
  readonly noticeDate: string | undefined;
  readonly successor: string | null;
}): Retirement {
  const { shutdownDate, successor } = shutdown;
  const sunsetMs = dayMs(shutdownDate);
  const noticeMs = shutdown.noticeDate === undefined ? undefined : dayMs(shutdown.noticeDate);
  assert(sunsetMs !== undefined, `a day to shut a model down: ${shutdownDate}`);
  return {
    shutdownDate,
    successor,
    headers: {
      sunset: new Date(sunsetMs).toUTCString(),
      ...(noticeMs !== undefined && { deprecation: `@${noticeMs / 1_000}` }),
      ...(successor !== null && {
        link: `</v1/models/${encodeURIComponent(successor)}>; rel="successor-version"`,
      }),
    },
  };
}

type Retiring = { readonly id: string; readonly retirement?: Retirement | undefined };

/** Returns the days until a model shuts down; negative after the shutdown. Undefined when no date is known. */
function daysLeft({ retirement }: Retiring, nowMs: number): number | undefined {
  const ms = retirement && dayMs(retirement.shutdownDate);
  return ms === undefined ? undefined : Math.ceil((ms - nowMs) / DAY_MS);
}

/** Returns true from the day on which the vendor shuts the model down. Calls are still sent: the vendor decides. */
const isShutDown = (model: Retiring, nowMs: number): boolean => {
  const ms = model.retirement && dayMs(model.retirement.shutdownDate);
  return ms !== undefined && ms <= nowMs;
};

/** Moves models that have been shut down to the end, and keeps the order otherwise. */
export const livingFirst = <T extends Retiring>(models: readonly T[], nowMs: number): T[] => [
  ...models.filter((model) => !isShutDown(model, nowMs)),
  ...models.filter((model) => isShutDown(model, nowMs)),
];

/** Returns the headers of the model in a cascade that is shut down first. */
export function soonestHeaders(models: readonly Retiring[]): Retirement['headers'] {
  let soonest: Retirement | undefined;
  for (const { retirement } of models) {
    if (retirement === undefined) continue;
    if (soonest === undefined || retirement.shutdownDate < soonest.shutdownDate) {
      soonest = retirement;
    }
  }
  return soonest?.headers ?? {};
}

/** Models that shut down within `days` or have already: `date -> successor` by id, the soonest first. */
export function retiringWithin(
  models: readonly Retiring[],
  days: number,
  nowMs: number,
): Readonly<Record<string, string>> {
  const soon = models.filter((model) => (daysLeft(model, nowMs) ?? Infinity) <= days);
  const dated = soon.flatMap(({ id, retirement }) => (retirement ? [{ id, ...retirement }] : []));
  dated.sort((a, b) => a.shutdownDate.localeCompare(b.shutdownDate));
  return Object.fromEntries(
    dated.map(({ id, shutdownDate, successor }) => [
      id,
      `${shutdownDate} -> ${successor ?? 'no successor'}`,
    ]),
  );
}
