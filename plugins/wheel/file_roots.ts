/** Files in `file_roots` of the master: what the file server gives to minions. */
import { allLister, finder, lister, reader, writer } from './_roots/functions.ts'

/**
 * The files a path means, one of each root that has it: `[{<full path>: txt}]`, or `bin`.
 *
 * @example salt-run wheel file_roots.find top.sls
 */
export const find = finder('file_roots')

/**
 * What an environment holds: root → name → `f` for a file, or what the folder holds.
 *
 * @example salt-run wheel file_roots.list_env saltenv=base
 */
export const list_env = lister('file_roots')

/**
 * What all environments hold.
 *
 * @example salt-run wheel file_roots.list_roots
 */
export const list_roots = allLister('file_roots')

/**
 * The texts of the files a path means: `[{<full path>: <text>}]`. What is no text is left out.
 *
 * @example salt-run wheel file_roots.read top.sls
 */
export const read = reader('file_roots')

/**
 * Write a text to a file, in the root of this number of the environment. Only with `wheel_write_roots: true`.
 *
 * @example salt-run wheel file_roots.write 'a: 1' motd.txt
 */
export const write = writer('file_roots')
