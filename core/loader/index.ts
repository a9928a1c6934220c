export { splitArguments } from './arguments.ts'
export { createContext } from './context.ts'
export type { LoadedFunction } from './functions.ts'
export { type Loader, type LoaderSettings, openLoader } from './loader.ts'
