export { checkStore } from './check-store.ts'
export { type KeyRange, type StoreKey, under } from './key.ts'
export {
  type Entry,
  openStore,
  type Store,
  type StoreChange,
  type StoreOptions,
  type StoreReader,
} from './store.ts'
