/** `npm run docs:site` writes the site of the project to `site`. */
import { join } from 'node:path'
import { writeProjectSite } from './project-site.ts'

const first = await writeProjectSite(join(import.meta.dirname, '../../site'))
process.stdout.write(`${first} written\n`)
