/** Entry of `npm run bench`. The bench is TypeScript; what it measures is the compiled product in `dist`. */
import { register } from 'tsx/esm/api'

register()
await import('./main.ts')
