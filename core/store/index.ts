export { checkAfterCrash } from './after-crash.ts'
export { checkStore } from './check-store.ts'
export { type KeyRange, type StoreKey, textsFrom, under } from './key.ts'
export {
  isFull,
  openStore,
  type Store,
  type StoreChange,
  type StoreOptions,
  type StoreReader,
} from './store.ts'
