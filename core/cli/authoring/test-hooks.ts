/** Entry for `node --import`: resolve and compile the imports of a test as the loader does. */
import { register } from 'tsx/esm/api'
import { installResolveHook } from '../../loader/files/resolve-hook.ts'

installResolveHook({ everyFile: true })
register({ tsconfig: false })
