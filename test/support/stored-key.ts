import { ask, newDeveloper, type WholeWorld } from './whole-world.ts';

/** An agent with a balance, whose developer has stored a key of their own for this provider. */
export async function agentWithStoredKey(world: WholeWorld, provider: string, providerKey: string) {
  const developer = await newDeveloper(world.api, 'owner');
  const agentId = await developer.createAgent('talker');
  const { key } = await developer.mintKey(agentId);
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { authorization: `Bearer ${world.adminApiKey}` },
    body: { amountRaw: '1000000', reference: 'start' },
  });
  await ask(`${world.url}/v1/developer/provider-keys/${provider}`, {
    method: 'PUT',
    headers: developer.headers,
    body: { key: providerKey },
  });
  return { agentId, key };
}
