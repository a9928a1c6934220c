export { checkAfterCrash } from './after-crash.ts'
export { checkStore } from './check-store.ts'
export { type KeyRange, type StoreKey, under } from './key.ts'
export { openStore, type Store, type StoreChange, type StoreOptions, type StoreReader } from './store.ts'
