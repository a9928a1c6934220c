/** Search in the page: results below the field, reachable with the arrow keys. All that is found is shown as text. */
const field = document.getElementById('search')
const found = document.getElementById('found')
const root = document.body.dataset.root
let index

/** The index may be large, so that it is loaded when somebody searches. */
async function openIndex() {
  await Promise.all(['minisearch.js', 'search-index.js'].map(load))
  return MiniSearch.loadJSON(searchIndex, searchOptions)
}

function load(name) {
  const script = document.createElement('script')
  script.src = `${root}assets/${name}`
  document.body.append(script)
  return new Promise((loaded) => script.addEventListener('load', loaded))
}

async function search(words) {
  index ??= openIndex()
  const results = (await index).search(words)
  const isExact = ({ title }) => Number(title.toLowerCase() === words.toLowerCase())
  return results.sort((a, b) => isExact(b) - isExact(a) || b.score - a.score).slice(0, 20)
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

function item({ id, title, page, summary }) {
  const link = document.createElement('a')
  link.href = root + id
  link.append(element('strong', title), element('small', page), element('span', summary))
  link.addEventListener('click', hide)
  const made = document.createElement('li')
  made.append(link)
  return made
}

async function show() {
  const words = field.value.trim()
  const results = words === '' ? [] : await search(words)
  if (words !== field.value.trim()) return
  found.replaceChildren(...results.map(item))
  if (words !== '' && results.length === 0) found.append(element('li', 'Nothing was found.'))
  found.hidden = words === ''
}

function hide() {
  found.hidden = true
}

const links = () => [...found.querySelectorAll('a')]

/** Move the focus among the field and the results. */
function move(step) {
  const all = [field, ...links()]
  const next = all.indexOf(document.activeElement) + step
  all[Math.min(Math.max(next, 0), all.length - 1)].focus()
}

field.addEventListener('input', show)
field.addEventListener('focus', show)
document.addEventListener('keydown', (event) => {
  const isInside = event.target === field || found.contains(event.target)
  if (event.key === '/' && !isInside && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    field.focus()
    field.select()
  } else if (isInside && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault()
    move(event.key === 'ArrowDown' ? 1 : -1)
  } else if (event.key === 'Enter' && event.target === field) links()[0]?.click()
  else if (event.key === 'Escape' && isInside) hide()
})
document.addEventListener('click', (event) => {
  if (!event.target.closest('search')) hide()
})
