import type { Policy, SpendFacts } from './policy.ts';

/** Returns true when a spending counts under a policy. A fact that is null matches no policy. */
export function matches(policy: Policy, facts: SpendFacts): boolean {
  const { matchKey } = policy;
  switch (policy.kind) {
    case 'session':
      return true;
    case 'task':
      return facts.taskId !== null && facts.taskId === matchKey;
    case 'key':
      return facts.keyRootId !== null && facts.keyRootId === Number(matchKey);
    case 'vendor':
      return facts.payee !== null && facts.payee === matchKey;
    case 'api':
      return facts.host !== null && matchKey !== null && hostMatches(policy, matchKey, facts.host);
  }
}

/**
 * Returns true when a host matches a policy. A suffix matches the domain itself and all its subdomains; an exact host matches
 * only itself.
 */
function hostMatches(policy: Policy, matchKey: string, host: string): boolean {
  if (policy.matchKind === 'host_exact') return host === matchKey;
  const domain = matchKey.startsWith('.') ? matchKey.slice(1) : matchKey;
  return host === domain || host.endsWith(`.${domain}`);
}
