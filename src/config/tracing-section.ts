import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { flag, optional, text, unlessEmpty } from './variable-kinds.ts';

const SAMPLERS = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false, ratio: undefined },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true, ratio: undefined },
} as const;

type SamplerName = keyof typeof SAMPLERS;
const SAMPLER_NAMES = Object.keys(SAMPLERS) as [SamplerName, ...SamplerName[]];

const collector = () => optional(z.url({ protocol: /^https?$/ }));

/** Environment variables of tracing, with OpenTelemetry's names. */
export const TRACING_SECTION = {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector().meta({
    description:
      'The OpenTelemetry collector. Spans are posted to `/v1/traces` below it, by OTLP over HTTP in protobuf. ' +
      'See [operations.md](operations.md#tracing).',
    takes: 'an http or https URL',
    unset: 'nothing is traced',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector().meta({
    description: 'Where spans are posted to, whole, in the place of the other.',
    takes: 'an http or https URL',
    unset: '`OTEL_EXPORTER_OTLP_ENDPOINT` says',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: text().meta({
    description: 'Headers of each post, such as the credential of the collector.',
    takes: '`name=value`, comma separated, values percent-encoded',
    unset: 'none',
  }),
  OTEL_SERVICE_NAME: unlessEmpty(z.string().default('agent-voice-spend-server')).describe(
    'What traces call this server.',
  ),
  OTEL_TRACES_SAMPLER: unlessEmpty(z.enum(SAMPLER_NAMES).default('parentbased_always_on')).describe(
    'Which traces are recorded. Those that are not `parentbased` decide themselves, whatever the `traceparent` of a caller says.',
  ),
  OTEL_TRACES_SAMPLER_ARG: optional(z.coerce.number().min(0).max(1)).meta({
    description: 'The share of traces that a sampler by ratio records.',
    takes: '0 to 1',
    defaultsTo: '1',
  }),
  TRACE_UPSTREAMS: flag().meta({
    description:
      'HTTP requests to model vendors carry `traceparent`; the handshakes of their WebSockets do not. By default no vendor learns which requests belong together.',
    takes: '`1` or `true`',
    unset: 'off',
  }),
};

const Tracing = z.object(TRACING_SECTION);

/**
 * Reads the sampling and the destination of traces. Undefined: nothing is traced. Throws ConfigError, which names the variable.
 */
export function assembleTracing(env: z.output<typeof Tracing>) {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url =
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (url === undefined) return undefined;
  const { isParentBased, ratio = env.OTEL_TRACES_SAMPLER_ARG ?? 1 } =
    SAMPLERS[env.OTEL_TRACES_SAMPLER];
  return {
    url,
    headers: readHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: env.OTEL_SERVICE_NAME,
    sampler: { isParentBased, ratio },
    reachesUpstreams: env.TRACE_UPSTREAMS,
  } as const;
}

/** Matches a member of W3C Baggage without properties: a token, and a percent-encoded value. */
const MEMBER = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([\x21-\x7e]*)\s*$/;

function readHeaders(list: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const member of list.split(',')) {
    if (member.trim() === '') continue;
    const [, name, value] = MEMBER.exec(member) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    if (name === undefined || decoded === undefined) {
      throw new ConfigError(
        'Invalid OTEL_EXPORTER_OTLP_HEADERS: must be name=value, comma separated and percent-encoded',
      );
    }
    headers[name] = decoded;
  }
  return headers;
}

function decode(value: string): string | undefined {
  try {
    const decoded = decodeURIComponent(value);
    return /^[\t\x20-\x7e]*$/.test(decoded) ? decoded : undefined;
  } catch {
    return undefined;
  }
}
