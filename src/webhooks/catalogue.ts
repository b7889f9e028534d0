import { z } from 'zod';

const raw = z.string().regex(/^\d+$/).describe('Raw USDC, 6 decimals');
const wallet = z.string().describe('Lower-case 0x address').nullable();
const agentId = z.int();
const instant = z.iso.datetime();

const agent = { agentId, agentWalletAddress: wallet };
const key = {
  keyId: z.int(),
  keyType: z.enum(['developer', 'agent']),
  keyPrefix: z.string(),
  label: z.string().nullable(),
  status: z.literal('active'),
  agentId: agentId.optional(),
  agentWalletAddress: wallet.optional(),
  actorWallet: z.string(),
};
const providerKey = {
  provider: z.string(),
  keyPrefix: z.string(),
  label: z.string().nullable(),
  enabled: z.boolean(),
  actorWallet: z.string(),
};
const credit = {
  ...agent,
  thresholdId: z.int(),
  thresholdBps: z.int(),
  utilizationBps: z.int(),
  available: raw,
};
const callId = z.string();
const metadata = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .optional()
  .describe('As it was given when the call was placed');
const call = {
  agentWalletAddress: wallet,
  callId,
  phoneNumber: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  from: z.string(),
  to: z.string(),
  metadata,
};
const recorded = z
  .object({
    consent: z.literal('announced'),
    announcedAt: instant,
    status: z.enum(['recording', 'stopped', 'ready', 'failed', 'deleted']),
  })
  .describe('Absent where the call was not announced as recorded');
const report = { agentWalletAddress: wallet, callId, provider: z.string(), metadata };
const number = { agentWalletAddress: wallet, numberId: z.int(), phoneNumber: z.string() };
const vendor = { vendor: z.string(), endpoint: z.string(), checkedAt: instant };
const loanId = z.string();

export type EventCategory = 'loan' | 'agent' | 'credit' | 'call' | 'phone' | 'marketplace';

/**
 * One kind of event: its name, documentation and payload. Every event also has the members `event`, `sequence` and `firedAt`.
 */
export type EventKind = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly category: EventCategory;
  /** Scope of a webhook that selects the event; `platform` events go to every account. */
  readonly scope: 'loan' | 'agent' | 'platform';
  readonly payload: z.ZodObject;
};

const group =
  (category: EventCategory, scope: EventKind['scope']) =>
  (name: string, title: string, description: string, payload: z.ZodRawShape): EventKind => ({
    name,
    title,
    description,
    category,
    scope,
    payload: z.object(payload),
  });

const loan = group('loan', 'loan');
const ofAgent = group('agent', 'agent');
const ofCredit = group('credit', 'agent');
const ofCall = group('call', 'agent');
const ofPhone = group('phone', 'agent');
const ofMarket = group('marketplace', 'agent');
const broadcast = group('marketplace', 'platform');

/** All events that a webhook can subscribe to, in the order of the published catalogue. */
export const EVENT_KINDS: readonly EventKind[] = [
  loan('loan.health_warning', 'Loan health warning', 'A loan comes close to liquidation.', {
    loanId,
    currentLtvBps: z.int(),
    liquidationLtvBps: z.int(),
    healthFactor: z.string(),
  }),
  loan('loan.expiry_warning', 'Loan expiry warning', 'A loan matures soon.', {
    loanId,
    maturesAt: instant,
    secondsRemaining: z.int(),
  }),
  loan('loan.overdue', 'Loan overdue', 'A loan has matured and is not repaid.', {
    loanId,
    maturedAt: instant,
  }),
  loan('loan.liquidated', 'Loan liquidated', 'The collateral of a loan was seized.', {
    loanId,
    collateralSeizedRaw: raw,
    txHash: z.string(),
  }),
  loan('loan.repaid', 'Loan repaid', 'A loan was repaid.', {
    loanId,
    repaidRaw: raw,
    txHash: z.string(),
  }),
  ofAgent('agent.created', 'Agent created', 'An agent was created and may spend.', {
    ...agent,
    name: z.string(),
    managedWalletAddress: wallet,
    fundingMode: z.string(),
    delegationTxHash: z.string().nullable(),
    status: z.literal('active'),
    actorWallet: z.string(),
  }),
  ofAgent('agent.suspended', 'Agent suspended', 'A cap that is a kill switch suspended an agent.', {
    ...agent,
    policyId: z.int(),
    reason: z.string(),
    status: z.literal('suspended'),
  }),
  ofAgent('key.created', 'Key created', 'A developer key or an agent key was made.', key),
  ofAgent('key.rotated', 'Key rotated', 'A key was replaced; the old one stopped working.', {
    ...key,
    rotatedFromKeyId: z.int(),
  }),
  ofAgent(
    'x402.first_settlement',
    'First settlement',
    'The first x402 payment of an agent was settled on chain.',
    { ...agent, url: z.string(), amountRaw: raw, txHash: z.string() },
  ),
  ofAgent('provider_key.created', 'Provider key stored', 'A provider key was stored.', providerKey),
  ofAgent(
    'provider_key.updated',
    'Provider key changed',
    'A provider key was replaced, or switched on or off.',
    providerKey,
  ),
  ofAgent(
    'provider_key.deleted',
    'Provider key deleted',
    'A provider key was deleted.',
    providerKey,
  ),
  ofCredit(
    'credit.warning',
    'Credit warning',
    'The share of its funding that an agent has used rose over a threshold.',
    credit,
  ),
  ofCredit(
    'credit.at_limit',
    'Credit at its limit',
    'The share of its funding that an agent has used rose over a threshold of 95 % or more.',
    credit,
  ),
  ofCredit('credit.recovered', 'Credit recovered', 'That share fell below a threshold.', credit),
  ofCall('call.started', 'Call started', 'A call was answered.', call),
  ofCall('call.ended', 'Call ended', 'A call is over and billed.', {
    ...call,
    reason: z.string(),
    durationSeconds: z.int(),
    transportRaw: raw,
    sttRaw: raw,
    ttsRaw: raw,
    taskId: z.string().nullable(),
    customerId: z.string().nullable(),
    answeredBy: z.string().optional(),
    handoffData: z
      .string()
      .optional()
      .describe('What a ConversationRelay application has handed over with its end message'),
    backstop: z
      .literal(true)
      .optional()
      .describe('Present where the media session was lost and the carrier settled the call'),
    recording: recorded.optional(),
  }),
  ofCall('call.report.ready', 'Call report ready', 'The report of a call can be read.', {
    ...report,
    summary: z.string(),
    transcript: z.string(),
  }),
  ofCall(
    'call.recording.ready',
    'Call recording ready',
    'The recording of a call can be fetched.',
    {
      ...report,
      recordingUrl: z.string(),
    },
  ),
  ofCall('call.analyzed', 'Call analyzed', 'A call was analyzed.', {
    ...report,
    success: z.boolean(),
    structuredData: z.record(z.string(), z.unknown()),
    sentiment: z.string().nullable(),
  }),
  ofCall('call.rejected', 'Call rejected', 'A call was not put through, or not answered.', {
    ...call,
    callId: callId.nullable(),
    provider: z.string().optional().describe('Voice platform, where the call was to be one of its'),
    reason: z.string(),
  }),
  ofPhone('phone.number.grace', 'Number in grace', 'The rental of a number could not be paid.', {
    ...number,
    graceUntil: instant,
    monthlyRentalRaw: raw,
  }),
  ofPhone('phone.number.released', 'Number released', 'A number was given back.', {
    ...number,
    releaseReason: z.string(),
  }),
  ofMarket('marketplace.job.completed', 'Job completed', 'An asynchronous job is done.', {
    agentWalletAddress: wallet,
    jobId: z.string(),
    vendor: z.string(),
    status: z.enum(['completed', 'failed']),
  }),
  ofMarket('marketplace.payment.settled', 'Payment settled', 'A payment to a vendor was settled.', {
    ...agent,
    host: z.string(),
    url: z.string(),
    amountRaw: raw,
    rail: z.enum(['x402', 'credit']),
    txHash: z.string().nullable(),
  }),
  ofMarket(
    'marketplace.spend_cap.hit',
    'Spend cap hit',
    'A paid call was refused by a spend control. One a minute for each cap at the most.',
    {
      ...agent,
      url: z.string(),
      host: z.string(),
      error: z.string(),
      policyId: z.int().nullable(),
      required: raw.nullable(),
      spent: raw.nullable(),
      limit: raw.nullable(),
    },
  ),
  ofMarket(
    'marketplace.tripwire.triggered',
    'Tripwire triggered',
    'A vendor did something else than it was expected to. For information; one an hour for each kind at the most.',
    {
      agentWalletAddress: wallet,
      vendor: z.string().optional(),
      tripwire: z.string(),
      expected: z.string(),
      observed: z.string(),
      callId: callId.optional().describe('Of a call whose carrier says something else of it'),
    },
  ),
  broadcast('marketplace.vendor.degraded', 'Vendor degraded', 'A vendor fails its probes.', vendor),
  broadcast('marketplace.vendor.recovered', 'Vendor recovered', 'A vendor answers again.', vendor),
];

const NAMES = EVENT_KINDS.map(({ name }) => name);

/** Returns true when a subscription's pattern matches an event: `*`, the event's name, or `prefix.*` at any of its dots. */
export const matchesEvent = (pattern: string, name: string): boolean =>
  pattern === '*' ||
  pattern === name ||
  (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1)));

/** Returns true when a subscription's pattern matches an event of the catalogue. */
export const isKnownPattern = (pattern: string): boolean =>
  NAMES.some((name) => matchesEvent(pattern, name));
