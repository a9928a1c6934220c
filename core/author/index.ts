/** `salt-ts`: what authors of modules, runners, returners and plugins import. */
export { fnmatch } from '../base/fnmatch.ts'
export { type PythonRegExp, pythonRegExp } from '../base/python-regexp.ts'
export type {
  Argspec,
  Context,
  Job,
  LoaderView,
  Log,
  MasterServices,
  MinionServices,
  StoredJob,
  StoredReturn,
} from './context.ts'
export { CommandExecutionError, CommandNotFoundError, SaltInvocationError } from './errors.ts'
export { type Fn, fn, isFn } from './fn.ts'
export {
  type GrainsSource,
  grains,
  type Matcher,
  type MatchSubject,
  matcher,
  type OutputOptions,
  type Outputter,
  outputter,
  type Verdict,
  type Virtual,
} from './kinds.ts'
export { type Args, type JsonSchema, type Param, type Params, p } from './params.ts'
