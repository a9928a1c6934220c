// The functions of salt-ts, for the types of `call`. This has no effect at run time.
/// <reference path="../../modules/_catalogue.ts" preserve="true" />
/** `salt-ts`: the API for authors of modules, runners, returners and plugins. */

export { writeFileAtomic } from '../base/files/atomic-file.ts'
export { type SafePath, safeName, safePath } from '../base/files/safe-path.ts'
export { type JsonLayout, jsonText } from '../dialect/json.ts'
export { fromRecordJson, recordJson } from '../dialect/record-json.ts'
export { type AuthBackend, type Authenticated, type AuthFacts, auth, type Credentials } from './auth.ts'
export * from './calls.ts'
export type {
  Argspec,
  BatchMemberState,
  BatchStatus,
  Context,
  DataChange,
  Explanation,
  Job,
  ListedJob,
  LoaderView,
  Log,
  MasterServices,
  MinionServices,
  StoredJob,
  StoredReturn,
  TargetExpression,
  TargetType,
  Unreturned,
} from './context.ts'
export { type EngineEvents, type EngineFacts, type EnginePlugin, engine } from './engine.ts'
export { CommandExecutionError, CommandNotFoundError, SaltInvocationError } from './errors.ts'
export { type Executor, type ExecutorCall, executor } from './executor.ts'
export {
  type FileClient,
  type FileHash,
  type FileLists,
  type FileServerBackend,
  type FileSource,
  fileServerBackend,
  type ModuleNames,
  type ServedFile,
  type SyncChanges,
  type SyncReport,
  type SyncRequest,
} from './files.ts'
export { type Fn, fn, isFn } from './fn.ts'
export {
  type Dependency,
  type GrainsSource,
  grains,
  type Matcher,
  type MatchOptions,
  type MatchResult,
  type MatchSubject,
  matcher,
  type OutputOptions,
  type Outputter,
  outputter,
  type PrepareOptions,
  type Virtual,
} from './kinds.ts'
export type {
  AccessAdmin,
  AccessAnswer,
  AccessQuestion,
  AuditAdmin,
  AuditQuery,
  AuditReport,
  JobArchive,
  JobQuery,
  KeyAdmin,
  KeyFiles,
  KeyLists,
  KeyPair,
  KeyTexts,
  MasterCache,
  Matched,
  MineAdmin,
  ReturnerAdmin,
  ReturnerStatus,
  RunningRun,
  SignatureRequest,
  StoredMineValue,
  TokenAdmin,
} from './master.ts'
export {
  type Args,
  type Declarations,
  type Input,
  type JsonSchema,
  type Options,
  type Output,
  type Param,
  type Params,
  type ParamsOf,
  p,
  type Schema,
} from './params.ts'
export {
  type EventRecord,
  type LoadRecord,
  type Returner,
  type ReturnerFacts,
  type ReturnerPlugin,
  type ReturnRecord,
  returner,
  type SharedValue,
  UnsavableError,
} from './returner.ts'
export type { StandardSchema } from './standard-schema.ts'
