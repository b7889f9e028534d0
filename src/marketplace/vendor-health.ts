import { encodeWav } from '../../media/wav.ts';
import { formatUsdc } from '../kernel/amount.ts';
import { isoTime } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Worker } from '../kernel/schedule.ts';
import { X402_LIMITS } from '../x402/limits.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import type { MarketAddress } from './market-address.ts';
import type { OpenAccount } from './open-accounts.ts';
import { listPriceRaw } from './prices/price.ts';
import { type Delivery, type OrderPlan, type Vendor, VendorRefused } from './vendor.ts';
import { openVendorClient, type VendorClientDeps } from './vendor-client.ts';
import type { VendorHealth, VendorProbe } from './vendor-health-store.ts';

type HealthDeps = VendorClientDeps & {
  readonly log: Log;
  readonly address: MarketAddress;
  readonly vendors: readonly Vendor[];
  readonly accounts: ReadonlyMap<string, OpenAccount>;
  readonly claim: (vendors: readonly string[]) => Promise<string | undefined>;
  readonly save: (
    probed: VendorProbe,
    event: { readonly endpoint: string; readonly checkedAt: string },
  ) => Promise<void>;
  readonly find: () => Promise<readonly VendorHealth[]>;
  /** Reads the health of vendors from agents' recent sales. */
  readonly findSales: () => Promise<readonly VendorHealth[]>;
  /** True when vendors are probed. False: their health comes from sales alone. */
  readonly probes: boolean;
};

/** Health of the marketplace's vendors, as a developer reads it. */
export type VendorList = {
  readonly now: string;
  /** True when this server probes its vendors. Otherwise their health comes from sales alone. */
  readonly probes: boolean;
  readonly vendors: readonly {
    readonly vendor: string;
    readonly name: string;
    readonly endpoint: string;
    readonly method: 'POST';
    /** Price of the probe's request for an agent, in dollars with six decimals. */
    readonly priceUsdc: string;
    readonly costRaw: string | null;
    /** `unknown` when the vendor was not probed, and has sold nothing for a day. */
    readonly status: 'ok' | 'down' | 'unknown';
    readonly responseExcerpt: string | null;
    readonly latencyMs: number | null;
    readonly checkedAt: string | null;
  }[];
};

export interface VendorHealths {
  list(): Promise<VendorList>;
  /**
   * Probes the vendor that is due, with a real request of one word or one second. At most one probe runs over all processes.
   */
  readonly worker: Worker | undefined;
}

const WORD = 'Hello.';
const SECOND_MS = 1_000;

/** Creates the prober, which probes vendors in turn, so that a developer hears of a vendor's fall before calling it. */
export function createVendorHealths(deps: HealthDeps): VendorHealths {
  const { accounts, address, clock, log } = deps;
  const vendors = deps.vendors.filter(
    ({ account, name }) => account === undefined || accounts.has(name),
  );
  const find = (name: string) => vendors.find((each) => each.name === name);

  async function tick(): Promise<void> {
    const name = await deps.claim(vendors.map((each) => each.name));
    const vendor = name === undefined ? undefined : find(name);
    const trial = vendor && trialOf(vendor);
    if (vendor === undefined || trial === undefined) return;
    const checkedAt = isoTime(clock.now());
    const probed = await probe(deps, vendor, trial);
    if (probed === undefined) return;
    if (!probed.isOk) log.warn({ vendor: name, why: probed.excerpt }, 'a vendor failed its probe');
    await deps.save(probed, { endpoint: address.urlOf(trial.path), checkedAt });
  }

  return {
    async list() {
      const rows = await (deps.probes ? deps.find() : deps.findSales());
      const byName = new Map(rows.map((row) => [row.vendor, row]));
      // Vendors that were probed, or all vendors on a server that does not probe.
      const listed = deps.probes
        ? rows.flatMap(({ vendor }) => find(vendor) ?? [])
        : byTheirNames(vendors);
      return {
        now: isoTime(clock.now()),
        probes: deps.probes,
        vendors: listed.flatMap((vendor) => {
          const trial = trialOf(vendor);
          return trial ? [shown(vendor, trial, byName.get(vendor.name), address)] : [];
        }),
      };
    },
    worker: deps.probes
      ? { name: 'probe-vendors', everyMs: MARKETPLACE_LIMITS.health.probeTickMs, tick }
      : undefined,
  };
}

const byTheirNames = (vendors: readonly Vendor[]): readonly Vendor[] =>
  [...vendors].sort((one, other) => (one.name < other.name ? -1 : 1));

type Trial = { readonly path: string; readonly plan: OrderPlan; readonly milliUnits: number };

/** Returns the cheapest request that shows that a vendor works. Undefined when the vendor has no service for such a request. */
function trialOf({ name, services }: Vendor): Trial | undefined {
  const { stt, tts } = services;
  if (tts !== undefined) {
    const milliUnits = WORD.length * 1_000;
    return { path: `/v1/tts/${name}`, plan: tts.plan({ text: WORD }), milliUnits };
  }
  if (stt === undefined) return undefined;
  const bytes = Buffer.from(encodeWav(new Int16Array(8 * SECOND_MS), 8_000));
  const file = { bytes, durationMs: SECOND_MS, contentType: 'audio/wav', name: 'second.wav' };
  return { path: `/v1/stt/${name}`, plan: stt.plan({ file }), milliUnits: SECOND_MS };
}

/** Probes a vendor. Undefined when the result proves nothing: a vendor that limits its callers works. */
async function probe(
  deps: HealthDeps,
  { name: vendor }: Vendor,
  { plan }: Trial,
): Promise<VendorProbe | undefined> {
  const { accounts, clock } = deps;
  const signal = new AbortController().signal;
  const door = openVendorClient(deps, accounts.get(vendor), { agentId: NO_AGENT, signal });
  const beganMs = clock.monotonicMs();
  const took = () => ({ vendor, latencyMs: Math.round(clock.monotonicMs() - beganMs) });
  try {
    return { ...took(), isOk: true, excerpt: excerptOf(await plan.ask(door)) };
  } catch (error) {
    if (error instanceof VendorRefused && error.answer.status === TOO_MANY) return undefined;
    const why = error instanceof Error ? error.message : String(error);
    return { ...took(), isOk: false, excerpt: why.slice(0, X402_LIMITS.reasonChars) };
  }
}

/** Agent id of a probe: local engines need an id, and a probe has no agent. */
const NO_AGENT = 0;
const TOO_MANY = 429;

const excerptOf = (delivery: Delivery): string =>
  'json' in delivery
    ? JSON.stringify(delivery.json.text ?? '').slice(0, X402_LIMITS.reasonChars)
    : `${delivery.contentType}, ${delivery.audio.length} bytes`;

function shown(
  { name, title }: Vendor,
  { milliUnits, path, plan }: Trial,
  seen: VendorHealth | undefined,
  address: MarketAddress,
): VendorList['vendors'][number] {
  const costRaw = listPriceRaw(plan.price, milliUnits, MARKETPLACE_LIMITS.marginBps);
  return {
    vendor: name,
    name: title,
    endpoint: address.urlOf(path),
    method: 'POST',
    priceUsdc: formatUsdc(costRaw),
    costRaw: costRaw.toString(),
    status: seen?.status ?? 'unknown',
    responseExcerpt: seen?.excerpt ?? null,
    latencyMs: seen?.latencyMs ?? null,
    checkedAt: seen?.checkedAt.toISOString() ?? null,
  };
}
