import { messageOf } from '../errors.ts'

/** Error codes of the system in plain words. */
const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  EACCES: 'this user may not do that',
  EPERM: 'this user may not do that',
  EROFS: 'the file system is read-only',
  EMFILE: 'this process may open no more files',
  EIO: 'the disk cannot be read or written',
}

/** Return why a file could not be read or written, without a full stop, and its path if the error has it. */
export function fileProblem(error: unknown): string {
  const { code = '', path } = error as NodeJS.ErrnoException
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined
  if (words === undefined) return messageOf(error)
  return path === undefined ? words : `${words} (${path})`
}
