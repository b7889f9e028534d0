/** Roles of an account's members, the strongest first. A role has every right of the roles behind it. */
export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** Rights that routes demand of developers, each with the weakest role that has the right. */
export const RIGHTS = {
  /** Concerns the wallet that signed in, and no account: signing out, accepting an invite. */
  self: 'viewer',
  /** Ends the caller's own membership. Ending another membership takes `team`. */
  leave: 'viewer',
  read: 'viewer',
  /** Changes agents with their keys, controls, numbers and calls, and webhooks. */
  work: 'member',
  /** Changes things that the whole account shares: its name, developer keys, provider keys, policies over all agents. */
  account: 'admin',
  /** Invites, changes and removes members. */
  team: 'admin',
  /** Moves money out of agents. */
  money_out: 'admin',
} as const satisfies Readonly<Record<string, Role>>;
export type Right = keyof typeof RIGHTS;

export const hasRight = (role: Role, right: Right): boolean =>
  ROLES.indexOf(role) <= ROLES.indexOf(RIGHTS[right]);
