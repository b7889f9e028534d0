import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RIGHTS } from '../../../../src/accounts/developers/role.ts';
import { type AnyRoute, rightOf } from '../../../../src/http/route/route.ts';
import { createRouter } from '../../../../src/http/server/router.ts';
import { DEVELOPER_ROUTES } from '../../../../src/routes/developer/routes.ts';
import { ROUTES } from '../../../../src/routes/index.ts';

type Endpoint = {
  readonly method: string;
  readonly path: string;
  readonly credential: string;
  readonly origin?: 'spec' | 'added';
  /** Weakest role that a writing route admits; a reading route admits every member. */
  readonly role?: string;
};

const endpoints = JSON.parse(
  readFileSync(new URL('../../../vectors/endpoints.json', import.meta.url), 'utf8'),
) as Endpoint[];

/** The name of a parameter is no part of the wire. */
const onTheWire = ({ method, path, credential }: Endpoint) =>
  `${method} ${path.replace(/\{\w+\}|:\w+/g, '{}')} ${credential}`;

describe('the route table', () => {
  it('the route table serves only the listed methods, paths and credentials', () => {
    const listed = new Set(endpoints.map(onTheWire));
    expect(ROUTES.map(onTheWire).filter((route) => !listed.has(route))).toEqual([]);
  });

  it('every route of developers states the role that test/vectors/endpoints.json lists, and no other route states a right', () => {
    const roles = new Map(
      endpoints.map((one) => [onTheWire(one), one.role ?? (one.method === 'GET' ? 'viewer' : '')]),
    );
    const routes: readonly AnyRoute[] = ROUTES;
    const ofDevelopers = routes.filter(({ credential }) => /^(management|any)$/.test(credential));
    const stated = ofDevelopers.map((route) => [onTheWire(route), RIGHTS[rightOf(route)]]);
    expect(stated).toEqual(stated.map(([name]) => [name, roles.get(name as string)]));
    const others = routes.filter((route) => !ofDevelopers.includes(route));
    expect(others.filter(({ right }) => right !== undefined)).toEqual([]);
  });

  it('the route table keeps all developer routes in their own table, and no others', () => {
    const below = ROUTES.filter(({ path }) => path.startsWith('/v1/developer/'));
    expect([...DEVELOPER_ROUTES]).toEqual(below);
  });

  it('the route table keeps the order of the specification', () => {
    const order = endpoints.filter(({ origin }) => origin === 'spec').map(onTheWire);
    // Routes of developers have a table of their own, so that others stand before or behind all of them.
    for (const isOwn of [true, false]) {
      const routes = ROUTES.filter(({ path }) => path.startsWith('/v1/developer/') === isOwn);
      const places = routes.map((route) => order.indexOf(onTheWire(route))).filter((at) => at >= 0);
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
  });

  it('the route table has no two routes of one method and path pattern', () => {
    expect(() => createRouter<Endpoint>(ROUTES)).not.toThrow();
    expect(new Set(endpoints.map(onTheWire)).size).toBe(endpoints.length);
  });
});
