import { describe, expect, it } from 'vitest';
import { useControls } from '../../support/controls-world.ts';

const controls = useControls();

const HUGE = (2n ** 300n).toString();
const past = Math.floor(Date.now() / 1_000) - 10;
const AMOUNTS = [
  '0',
  '00',
  '-1',
  '+1',
  '1.5',
  '1e6',
  '0x10',
  ' 1',
  '1 ',
  '١',
  '',
  HUGE,
  '1000000000000001',
  '9223372036854775808',
  '1_000',
  'Infinity',
  'NaN',
  '1\u0000',
  1,
  1.5,
  true,
  [],
  ['1'],
  {},
];
const INTEGERS = [-1, 1.5, '60', true, [], {}, 1e300, Number.MAX_SAFE_INTEGER];

/** A field and what may not stand in it, in a body that is right without. */
const FIELDS: readonly (readonly [string, readonly unknown[]])[] = [
  ['kind', [undefined, null, 'key', 'team', 'TASK', '', 1, ['task']]],
  ['limitRaw', [undefined, null, ...AMOUNTS]],
  ['limitFloorRaw', [...AMOUNTS, '1001']],
  ['limitCeilingRaw', [...AMOUNTS, '999']],
  [
    'matchKey',
    [undefined, null, '', ' ', 'é', 'ﬀ', 'a\u0000b', 'a\nb', 't'.repeat(129), 5, [], {}],
  ],
  ['matchKind', ['host_exact', 'host_suffix', 'recipient', 'exact', '', 5]],
  ['windowKind', ['session', 'daily', 'ROLLING', '', 5]],
  ['windowSeconds', [0, 59, 315_360_001, ...INTEGERS]],
  ['calendarUnit', ['day', 'year', '', 5]],
  ['expiresAt', [past, past + 3_600, ...INTEGERS]],
  ['effectiveFrom', INTEGERS],
  ['effectiveUntil', [0, past, ...INTEGERS]],
  ['action', ['suspend', 'BLOCK', '', 5]],
  ['label', ['x'.repeat(256), 'nul\u0000', '\ud83d', 5, []]],
  ['qualityThrottleFloorBps', [10_001, ...INTEGERS.filter((n) => n !== 1.5), 1.5]],
  ['qualityWindowSeconds', [59, 60, ...INTEGERS]],
];
const TASK = { kind: 'task', matchKey: 't', limitRaw: '1000' };

describe('a policy body that is wrong', () => {
  it('an invalid policy body is refused with the name of the field, by agent and developer routes, and creates nothing', async () => {
    const { ask } = controls.on;
    const { headers, key, path } = await controls.on.agent();
    const planes = [
      ['/v1/agents/policies', key],
      [`${path}/policies`, headers],
      ['/v1/developer/policies', headers],
    ] as const;
    for (const [base, as] of planes) {
      for (const [field, values] of FIELDS) {
        for (const value of values) {
          const told = await ask('POST', base, { headers: as, body: { ...TASK, [field]: value } });
          const what = `${base} ${field} ${JSON.stringify(value)?.slice(0, 40)}`;
          expect([told.status, told.body.error], what).toEqual([400, 'Invalid request']);
          const paths = told.body.details.map((detail: { path: unknown[] }) => detail.path[0]);
          expect(paths, what).toContain(field);
          for (const detail of told.body.details) {
            expect(Object.keys(detail).sort(), what).toEqual(['code', 'message', 'path']);
          }
        }
      }
      for (const body of ['null', '[]', '"x"', '{"kind":', '1']) {
        const told = await ask('POST', base, { headers: as, body });
        expect([told.status, told.body.error], body).toEqual([400, 'Invalid request']);
      }
      const list = await ask('GET', `${base}?includeRevoked=true`, { headers: as });
      expect(list.body).toEqual({ policies: [] });
    }
  });

  it('a policy that caps a whole session can only be created for a team', async () => {
    const { ask } = controls.on;
    const { headers, key, path } = await controls.on.agent();
    const body = { kind: 'session', limitRaw: '10', windowKind: 'session' };
    for (const [base, as] of [
      ['/v1/agents/policies', key],
      [`${path}/policies`, headers],
    ] as const) {
      const told = await ask('POST', base, { headers: as, body });
      expect([told.status, told.body.details[0].path]).toEqual([400, ['kind']]);
    }
    const keyed = { ...body, matchKey: 'x' };
    const told = await ask('POST', '/v1/developer/policies', { headers, body: keyed });
    expect([told.status, told.body.details[0].path]).toEqual([400, ['matchKey']]);
  });
});

describe('a change that is wrong', () => {
  it('an invalid policy change is refused with the name of the field, and changes nothing', async () => {
    const { ask } = controls.on;
    const { headers, path } = await controls.on.agent();
    const { policy } = (await ask('POST', `${path}/policies`, { headers, body: TASK })).body;
    for (const [field, values] of FIELDS) {
      for (const value of values) {
        if (value === undefined) continue;
        const told = await ask('PATCH', `${path}/policies/${policy.id}`, {
          headers,
          body: { [field]: value },
        });
        const what = `${field} ${JSON.stringify(value)?.slice(0, 40)}`;
        expect([told.status, told.body.error, told.body.details[0].path[0]], what).toEqual([
          400,
          'Invalid request',
          field,
        ]);
      }
    }
    expect((await ask('GET', `${path}/policies`, { headers })).body.policies).toEqual([policy]);
  });
});

describe('a session limit that is none', () => {
  it('an invalid session limit gets 400 by agent and developer routes, and sets nothing', async () => {
    const { ask } = controls.on;
    const { headers, key, path } = await controls.on.agent();
    for (const [at, as] of [
      ['/v1/agents/spend-limit', key],
      [`${path}/spend-limit`, headers],
    ] as const) {
      for (const limitRaw of [undefined, null, ...AMOUNTS]) {
        const told = await ask('PUT', at, { headers: as, body: { limitRaw } });
        expect([told.status, told.body.error, told.body.details[0].path], String(limitRaw)).toEqual(
          [400, 'Invalid request', ['limitRaw']],
        );
      }
      expect((await ask('GET', at, { headers: as })).body).toMatchObject({ active: false });
    }
  });
});
