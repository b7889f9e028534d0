import { describe, expect, it } from 'vitest';
import { createRouter } from '../../../../src/http/server/router.ts';

const routes = [
  { method: 'GET', path: '/v1/items' },
  { method: 'POST', path: '/v1/items' },
  { method: 'GET', path: '/v1/items/:id' },
  { method: 'DELETE', path: '/v1/items/:id' },
  { method: 'GET', path: '/v1/items/self' },
  { method: 'GET', path: '/v1/items/:id/parts/:part' },
  { method: 'GET', path: '/v1/:kind/list' },
  { method: 'GET', path: '/v1/models/:id', endsInId: true },
  { method: 'GET', path: '/v1/models/own/list' },
];
const router = createRouter(routes);

describe('the router', () => {
  it('the router prefers a fixed path to a parameter, whatever the order of the routes', () => {
    expect(router.find('/v1/items/self')?.rawParams).toEqual([]);
    expect(router.find('/v1/items/5')?.rawParams).toEqual([['id', '5']]);
    expect(router.find('/v1/items/list')?.rawParams).toEqual([['id', 'list']]);
    expect(router.find('/v1/things/list')?.rawParams).toEqual([['kind', 'things']]);
  });

  it('the router finds a path behind the prefix of another vendor, and no prefix before that', () => {
    const own = router.find('/v1/items/5');
    expect(router.find('/openai/v1/items/5')).toEqual(own);
    expect(router.find('/v1beta/openai/items/5')).toEqual(own);
    expect(router.find('/v1beta/openai/models/a/b')?.rawParams).toEqual([['id', 'a/b']]);
    for (const path of ['/openai/items/5', '/v1beta/items/5', '/x/openai/v1/items/5']) {
      expect(router.find(path), path).toBeUndefined();
    }
  });

  it('the router joins the methods of one path pattern and leaves parameters encoded', () => {
    expect([...(router.find('/v1/items')?.byMethod.keys() ?? [])]).toEqual(['GET', 'POST']);
    const found = router.find('/v1/items/a%2Fb/parts/c');
    expect(found?.rawParams).toEqual([
      ['id', 'a%2Fb'],
      ['part', 'c'],
    ]);
  });

  it('the router gives a last `id` parameter all remaining segments where no other path fits', () => {
    expect(router.find('/v1/models/a')?.rawParams).toEqual([['id', 'a']]);
    expect(router.find('/v1/models/a/b%2Fc/d')?.rawParams).toEqual([['id', 'a/b%2Fc/d']]);
    expect(router.find('/v1/models/own/list')?.rawParams).toEqual([]);
    for (const path of ['/v1/models/', '/v1/models/a/', '/v1/models//a', '/v1/modelsa/b']) {
      expect(router.find(path), path).toBeUndefined();
    }
  });

  it('the router finds no route for an empty parameter, another case or an extra slash', () => {
    for (const path of ['/v1/items/', '/v1/Items', '/v1/items/5/', '/', '', '/v1/items//parts/x']) {
      expect(router.find(path), path).toBeUndefined();
    }
  });

  it('the router refuses two routes that would hide one another', () => {
    expect(() => createRouter([...routes, { method: 'GET', path: '/v1/items' }])).toThrow();
    expect(() => createRouter([...routes, { method: 'PUT', path: '/v1/items/:itemId' }])).toThrow();
  });
});
