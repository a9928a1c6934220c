/** The entry of the bundle that several programs share (`bin/start.cjs`); each is loaded when it is asked for. */
export const programs = {
  'salt-api': () => import('./commands/salt-api.ts'),
  'salt-call': () => import('./commands/salt-call.ts'),
  'salt-cp': () => import('./commands/salt-cp.ts'),
  'salt-key': () => import('./commands/salt-key.ts'),
  'salt-minion': () => import('./commands/salt-minion.ts'),
  'salt-syndic': () => import('./commands/salt-syndic.ts'),
  'salt-run': () => import('./commands/salt-run.ts'),
}
