/** Files in the master's `file_roots`, which the file server serves to minions. */
import { allLister, finder, lister, reader, writer } from './_roots/functions.ts'

/**
 * Return the files at a path, from every root that has one: `[{<full path>: txt}]`, or `bin`.
 *
 * @example salt-run wheel file_roots.find top.sls
 */
export const find = finder('file_roots')

/**
 * Return the contents of an environment: root → name → `f` for a file, or the contents of a folder.
 *
 * @example salt-run wheel file_roots.list_env saltenv=base
 */
export const list_env = lister('file_roots')

/**
 * Return the contents of all environments.
 *
 * @example salt-run wheel file_roots.list_roots
 */
export const list_roots = allLister('file_roots')

/**
 * Return the texts of the files at a path: `[{<full path>: <text>}]`. Binary files are left out.
 *
 * @example salt-run wheel file_roots.read top.sls
 */
export const read = reader('file_roots')

/**
 * Write text to a file in the environment's root with this index. Only with `wheel_write_roots: true`.
 *
 * @example salt-run wheel file_roots.write 'a: 1' motd.txt
 */
export const write = writer('file_roots')
