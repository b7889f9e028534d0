import { requestErrors } from '../http/route/errors.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Json } from '../kernel/json.ts';
import {
  type SoundFile,
  type VendorClient,
  VendorFailed,
  type VendorRequest,
  type VendorResponse,
} from '../models/providers/vendors/vendor-api.ts';
import type { DocumentService } from './documents/document-service.ts';
import type { ListPrice } from './prices/price.ts';
import type { ServiceBodies, ServiceName } from './requests.ts';
import type { Deviation, ReportedWork } from './tripwires/deviation.ts';

/** Order to a vendor: the caller's body, with the fetched file in place of its URL. */
export type VendorOrder = {
  readonly [S in ServiceName]: S extends 'stt' | 'stt-translate'
    ? Omit<ServiceBodies[S], 'audioUrl'> & { readonly file: SoundFile }
    : ServiceBodies[S];
};

/** Client of one vendor, for one order of an agent. */
export interface AgentVendorClient extends VendorClient {
  readonly agentId: number;
  /** Aborts requests that the vendor does not bill, for example when the client leaves. */
  readonly signal: AbortSignal;
}

/** A vendor's result: audio, or a JSON object as the vendor wrote it. */
export type Delivery = (
  | { readonly audio: Buffer; readonly contentType: string }
  | { readonly json: Json }
) & {
  /** Amount of work that the vendor reports, compared with the amount that was measured here. */
  readonly reported?: ReportedWork | undefined;
  /** Difference between the delivery and the order. Undefined when there is no difference. */
  readonly departure?: Deviation | undefined;
};

/** List price of an order, and the call that requests its delivery from the vendor. Nothing is sent before `ask`. */
export type OrderPlan = {
  readonly price: ListPrice;
  /** Number of characters by the vendor's count, when it does not count code points. */
  readonly characters?: number;
  readonly ask: (door: AgentVendorClient) => Promise<Delivery>;
};

export type Service<S extends ServiceName> = {
  /** Longest text in code points. Absent: `MARKETPLACE_LIMITS.request.textChars`. */
  readonly mostChars?: number;
  /** Returns true for names of options that are passed to the vendor. Absent: no option is passed. */
  readonly options?: (name: string) => boolean;
  /** Plans an order. Throws the refusal of an order without a price. */
  readonly plan: (order: VendorOrder[S]) => OrderPlan;
};

export type Services = { readonly [S in ServiceName]?: Service<S> };

/** Access to a vendor by an account of this server. */
export type VendorAccount = {
  /** Names of the environment variables with the credentials. The vendor is off when one of them is missing. */
  readonly variables: readonly string[];
  /** Base URL of the vendor, up to its version. VENDOR_<NAME>_BASE_URL overrides it; null: only that variable gives it. */
  readonly baseUrl: string | null;
  /** Returns the headers that authenticate a request to a whole URL. */
  readonly opens: (
    request: Required<Pick<VendorRequest, 'method'>> &
      Pick<VendorRequest, 'body'> & { readonly url: URL },
    credentials: readonly string[],
    clock: Clock,
  ) => Readonly<Record<string, string>>;
};

export type Vendor = {
  /** Name of the vendor in paths and environment variables. */
  readonly name: string;
  /** Name of the vendor for people. */
  readonly title: string;
  /** Account at the vendor. Absent: the vendor is a part of this process. */
  readonly account?: VendorAccount;
  readonly services: Services;
  /** Service that turns documents into text, in jobs that take minutes. */
  readonly documents?: DocumentService;
};

/** Returns an account whose only credential goes into a header. */
export const keyed = (
  variable: string,
  baseUrl: string | null,
  headerOf: (key: string) => Readonly<Record<string, string>>,
): VendorAccount => ({
  variables: [variable],
  baseUrl,
  opens: (_, [key = '']) => headerOf(key),
});

/** Thrown when a vendor answered with a status other than 2xx. */
export class VendorRefused extends Error {
  override readonly name = 'VendorRefused';
  readonly answer: VendorResponse;

  constructor(answer: VendorResponse) {
    super(`status ${answer.status}`);
    this.answer = answer;
  }
}

/** Thrown when a vendor answered with success, but with another kind of content than the order's. */
export class VendorAnsweredOther extends VendorFailed {
  override readonly name = 'VendorAnsweredOther';
  readonly departure: Deviation;

  constructor(message: string, departure: Deviation) {
    super(message);
    this.departure = departure;
  }
}

/** Returns the refusal of an order that a vendor does not accept, or that has no price here. */
export const unfit = (member: string, message: string) =>
  requestErrors.invalid([{ path: [member], message, code: 'invalid_value' }]);

/** Models that a vendor has discontinued, by name, with the reason for the refusal. */
type Ended = Readonly<Record<string, string>>;

/**
 * Returns the price of a model by its name. Throws the refusal of a model without a price, which lists the models with a price.
 */
export function modelOf(
  model: string | null | undefined,
  prices: Readonly<Record<string, ListPrice>>,
  { member = 'model', ended = {} }: { readonly member?: string; readonly ended?: Ended } = {},
): { readonly model: string; readonly price: ListPrice } {
  const [usual = ''] = Object.keys(prices);
  const name = model ?? usual;
  const price = Object.hasOwn(prices, name) ? prices[name] : undefined;
  if (price !== undefined) return { model: name, price };
  const why = Object.hasOwn(ended, name) ? `${ended[name]}; it ` : '';
  throw unfit(member, `${why}must be one of ${Object.keys(prices).join(', ')}`);
}

/**
 * Returns the plan of an order. Throws the refusal of an order that the vendor does not accept, or of an option that is not
 * passed on to the vendor.
 */
export function planOf(service: Service<ServiceName>, order: object): OrderPlan {
  const given =
    'options' in order ? (order.options as Readonly<Record<string, unknown>> | null) : {};
  const { options: takes } = service;
  const name = Object.keys(given ?? {}).find((option) => takes?.(option) !== true);
  if (name === undefined) return service.plan(order as never);
  const why =
    takes === undefined ? 'this vendor takes none' : 'it changes the bill or is not known here';
  throw unfit('options', `must not have ${name}: ${why}`);
}

/**
 * Returns a name for a path or a document, or `usual` when no name is given. Throws the refusal of a name with other
 * characters.
 */
export function nameOf(given: string | null | undefined, usual: string, member: string): string {
  const name = given ?? usual;
  if (!/^[A-Za-z0-9_.:-]{1,128}$/.test(name)) {
    throw unfit(member, 'must have letters, digits and ._:- only');
  }
  return name;
}
