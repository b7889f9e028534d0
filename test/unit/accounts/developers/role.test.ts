import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasRight, RIGHTS, type Right, ROLES } from '../../../../src/accounts/developers/role.ts';

describe('roles', () => {
  it('the table of docs/api-behaviour/account.md says which role has which right', () => {
    const page = readFileSync('docs/api-behaviour/account.md', 'utf8');
    const weakestFirst = [...ROLES].reverse();
    const rows = (Object.keys(RIGHTS) as Right[]).map((right) => {
      const has = weakestFirst.map((role) => (hasRight(role, right) ? 'yes' : 'no'));
      return `| \`${right}\` | ${has.join(' | ')} |`;
    });
    const told = [...page.matchAll(/^(\| `\w+` \|(?: (?:yes|no) \|){4})/gm)].map(([row]) => row);
    expect(told).toEqual(rows);
    expect(page).toContain(`| Right | ${weakestFirst.join(' | ')} |`);
  });

  it('only owners and admins change the team and move money out, and a viewer only reads', () => {
    const having = (right: Right) => ROLES.filter((role) => hasRight(role, right));
    expect(having('money_out')).toEqual(['owner', 'admin']);
    expect(having('team')).toEqual(['owner', 'admin']);
    expect(having('work')).toEqual(['owner', 'admin', 'member']);
    expect(having('read')).toEqual(['owner', 'admin', 'member', 'viewer']);
  });
});
