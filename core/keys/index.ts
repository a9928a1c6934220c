export { isApiClient, manualAcceptanceOnly } from './api-clients.ts'
export { derivedSessions } from './derived-sessions.ts'
export { eventGroup } from './event-group.ts'
export { type Invite, Invites } from './invites.ts'
export {
  auditEntry,
  type ChangedBy,
  KeyAudit,
  type KeyAuditEntry,
  type Operator,
  operator,
} from './key-audit.ts'
export { type KeyState, keyFolders } from './key-files.ts'
export { generateKeyFiles, generateKeyTexts, generateSignature } from './key-generation.ts'
export {
  allKeys,
  type KeysBySection,
  listKeys,
  matchKeys,
  otherKeys,
  selectionOf,
} from './key-lists.ts'
export { eventsOf, KeyManager } from './key-manager.ts'
export { type KeyChange, KeyStore, type OfferResult } from './key-store.ts'
export { fingerKeys, fingerMaster, masterKeyText, printKeys } from './key-texts.ts'
export { loadMasterKeys } from './master-keys.ts'
export { MinionKeys } from './minion-keys.ts'
export { AUTOSIGN_FOLDER, createKeyPolicy, type KeyPolicy, type PolicySettings } from './policy.ts'
export { RootKeys, readRootKey, signForAddress, writeRootKeys, writeRootKeysFor } from './root-key.ts'
export { rotationFlagPath } from './rotation.ts'
export { SessionKeys } from './session-keys.ts'
export { groupsOf } from './users.ts'
