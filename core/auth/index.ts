/** Who somebody is, and what they may do. See README.md. */
export { Access } from './access.ts'
export { checkAccess } from './check-access.ts'
export type { Call, Caller, JobOptions, Verdict } from './contract.ts'
export { proofIn } from './identity.ts'
export { localName } from './members.ts'
export { type Auth, openAuth } from './open.ts'
export { openTokenStore, tokenStoreFile } from './tokens/open-store.ts'
export { Tokens } from './tokens/tokens.ts'
