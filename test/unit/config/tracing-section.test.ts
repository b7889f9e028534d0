import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { ConfigError } from '../../../src/config/config-error.ts';

const COLLECTOR = 'https://collector.example/otlp/';
const tracing = (more: NodeJS.ProcessEnv = {}) =>
  readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, ...more }).tracing;

describe('the configuration of tracing', () => {
  it('tracing is off unless a collector is configured', () => {
    expect(readConfig({}).tracing).toBeUndefined();
    expect(readConfig({ OTEL_TRACES_SAMPLER: 'always_on' }).tracing).toBeUndefined();
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }).tracing).toBeUndefined();
  });

  it('tracing appends the traces path to the endpoint of all signals, and uses the endpoint of traces unchanged', () => {
    expect(tracing()).toEqual({
      url: 'https://collector.example/otlp/v1/traces',
      headers: {},
      serviceName: 'agent-voice-spend-server',
      reachesUpstreams: false,
      sampler: { isParentBased: true, ratio: 1 },
    });
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'http://traces.example/in';
    expect(tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT })?.url).toBe('http://traces.example/in');
  });

  it.each([
    ['always_on', { isParentBased: false, ratio: 1 }],
    ['always_off', { isParentBased: false, ratio: 0 }],
    ['traceidratio', { isParentBased: false, ratio: 0.25 }],
    ['parentbased_always_off', { isParentBased: true, ratio: 0 }],
    ['parentbased_traceidratio', { isParentBased: true, ratio: 0.25 }],
  ])('the tracing configuration has the sampler %s', (OTEL_TRACES_SAMPLER, sampler) => {
    expect(tracing({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: '0.25' })?.sampler).toEqual(
      sampler,
    );
  });

  it('the tracing configuration decodes headers, and quotes no malformed header in its refusal', () => {
    const OTEL_EXPORTER_OTLP_HEADERS = 'api-key=a%3Db%20c, x-other = 1,';
    expect(tracing({ OTEL_EXPORTER_OTLP_HEADERS })?.headers).toEqual({
      'api-key': 'a=b c',
      'x-other': '1',
    });
    for (const secret of ['s3cr3t', 'a=s3cr3t%0d%0ax: 1', 'a=s3cr3t%', '=s3cr3t', 'a b=s3cr3t']) {
      const read = () => tracing({ OTEL_EXPORTER_OTLP_HEADERS: secret });
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(/^Invalid OTEL_EXPORTER_OTLP_HEADERS/);
      expect(read).not.toThrow(/s3cr3t/);
    }
  });

  it('the tracing configuration refuses an invalid endpoint, sampler and sampling ratio', () => {
    expect(() => tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://x' })).toThrow(ConfigError);
    expect(() => tracing({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toThrow(ConfigError);
    expect(() => tracing({ OTEL_TRACES_SAMPLER_ARG: '2' })).toThrow(ConfigError);
  });
});
