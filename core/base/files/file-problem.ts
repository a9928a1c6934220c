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
  EEXIST: 'there is a file of that name',
  EISDIR: 'there is a folder of that name',
  ENOTDIR: 'a part of its path is a file, not a folder',
}

const wordsFor = (code = ''): string | undefined => (Object.hasOwn(WORDS, code) ? WORDS[code] : undefined)

/** Return why a file could not be read or written, without a full stop, and its path if the error has it. */
export function fileProblem(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException
  const words = wordsFor(code)
  if (words === undefined) return messageOf(error)
  return path === undefined ? words : `${words} (${path})`
}

/** Return the system's error about a file with a sentence that names it; the code stays. */
export function cannotWrite(path: string, error: unknown): Error {
  const { code, errno, syscall } = error as NodeJS.ErrnoException
  const why = wordsFor(code) ?? messageOf(error)
  return Object.assign(new Error(`${path} cannot be written: ${why}`, { cause: error }), {
    code,
    errno,
    syscall,
    path,
  })
}
