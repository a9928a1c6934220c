export { isBlacklisted, matchesWhole } from './acl-users.ts'
export { eventGroup } from './event-group.ts'
export { type Invite, Invites, type JoinAnswer, type JoinProof } from './invites.ts'
export { isJoinRefusal, type JoinRefusal, type JoinToken, joinReasons } from './join-token.ts'
export {
  type AuditEntry,
  actOf,
  auditEntry,
  type ChangedBy,
  KeyAudit,
  type Operator,
  operator,
} from './key-audit.ts'
export { type KeyState, keyFolders } from './key-files.ts'
export { generateKeyFiles, generateKeyTexts, generateSignature } from './key-generation.ts'
export {
  allKeys,
  type KeyLists,
  type KeySection,
  listKeys,
  matchAllKeys,
  matchKeys,
  selectionOf,
} from './key-lists.ts'
export { eventsOf, KeyManager } from './key-manager.ts'
export { type KeyChange, type KeySelection, KeyStore, type Outcome } from './key-store.ts'
export { fingerKeys, fingerMaster, type KeyTexts, masterKeyText, printKeys } from './key-texts.ts'
export { loadMasterKeys } from './master-keys.ts'
export { MinionKeys } from './minion-keys.ts'
export { createKeyPolicy, type KeyPolicy, type PolicySettings } from './policy.ts'
export { RootKeys, readRootKey, writeRootKeys } from './root-key.ts'
export { askForRotation, rotationFlag } from './rotation.ts'
export { SessionKeys } from './session-keys.ts'
