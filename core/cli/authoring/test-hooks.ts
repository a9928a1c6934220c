/** Entry for `node --import`: resolve and compile the imports of a test as the loader does. */
import { withPrivateFolder } from '../../loader/files/compiled-files.ts'
import { installResolveHook } from '../../loader/files/resolve-hook.ts'

installResolveHook({ everyFile: true })
const { register } = await withPrivateFolder(() => import('tsx/esm/api'))
register({ tsconfig: false })
