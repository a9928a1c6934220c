// The functions that come with salt-ts, for the types of `call`; nothing of it is there when the program runs.
/// <reference path="../../modules/_catalogue.ts" preserve="true" />
/** `salt-ts`: what authors of modules, runners, returners and plugins import. */

export { createFileExclusive, replaceFile, writeFileAtomic } from '../base/atomic-file.ts'
export {
  type CompoundLeaf,
  type CompoundTree,
  compoundWords,
  isCompoundOperator,
  parseCompound,
  type TargetLetter,
  type TargetLetters,
} from '../base/compound-target.ts'
export { eachOf } from '../base/each-of.ts'
export { fingerprint } from '../base/fingerprint.ts'
export { floatText } from '../base/float-text.ts'
export { fnmatch } from '../base/fnmatch.ts'
export { type Address, isInNetwork, type Network, parseAddress, parseNetwork } from '../base/ip-network.ts'
export { type JsonLayout, jsonText } from '../base/json.ts'
export { isBelow, type OpenedFile, openInside } from '../base/open-inside.ts'
export { checkPathPcre } from '../base/path-expression.ts'
export { type PythonRegExp, pythonRegExp } from '../base/python-regexp.ts'
export { fromRecordJson, recordJson } from '../base/record-json.ts'
export { type SafePath, safeName, safePath } from '../base/safe-path.ts'
export { isoOfTimeText, timeText } from '../base/time-text.ts'
export { decode as fromMsgpack, encodeLocal as msgpack } from '../codec/index.ts'
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
  mergeLists,
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
  type MatchSubject,
  matcher,
  type OutputOptions,
  type Outputter,
  outputter,
  type PrepareOptions,
  type Verdict,
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
  ReturnerAdmin,
  ReturnerStatus,
  RunningRun,
  SignatureRequest,
  TokenAdmin,
} from './master.ts'
export { type Args, type JsonSchema, type Param, type Params, p } from './params.ts'
export {
  type EventRecord,
  type LoadRecord,
  type Returner,
  type ReturnerFacts,
  type ReturnerPlugin,
  type ReturnRecord,
  returner,
  UnsavableError,
} from './returner.ts'
