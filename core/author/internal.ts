/** `#internal`: helpers for built-in extensions that are not public. See `imports` in package.json. */
export { messageOf } from '../base/errors.ts'
export {
  createFileExclusive,
  fillFileAtomic,
  fillFileAtomicSync,
  replaceFile,
} from '../base/files/atomic-file.ts'
export { fileProblem } from '../base/files/file-problem.ts'
export { isBelow, type OpenedFile, openInside } from '../base/files/open-inside.ts'
export { fingerprint } from '../base/fingerprint.ts'
export { mapConcurrently } from '../base/map-concurrently.ts'
export { type Address as IpAddress, isInNetwork, parseAddress, parseNetwork } from '../base/net/ip-network.ts'
export { serverIdentityCheck } from '../base/net/server-identity.ts'
export { screened } from '../base/screened.ts'
export { asReceived, decode as fromMsgpack, encodeLocal as msgpack } from '../codec/index.ts'
export {
  type CompoundLeaf,
  type CompoundTree,
  isCompoundOperator,
  parseCompound,
} from '../dialect/compound-target.ts'
export { Float } from '../dialect/float.ts'
export { floatText } from '../dialect/float-text.ts'
export { fnmatch } from '../dialect/fnmatch.ts'
export { valueText } from '../dialect/json.ts'
export { checkPathPcre } from '../dialect/path-expression.ts'
export { type PythonRegExp, pythonRegExp } from '../dialect/python-regexp.ts'
export { type PythonSearch, pythonSearch } from '../dialect/python-search.ts'
export { shownTime, strftime } from '../dialect/strftime.ts'
export { isoOfTimeText, MONTHS, timeText } from '../dialect/time-text.ts'
export { mergeLists } from './files.ts'
