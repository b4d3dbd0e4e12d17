// What all pictures of a page share: the data, numbers as text, colours, tips, files to save, and the filter of runs.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const hiddenRuns = new Set();
const drawn = [];  // the pictures: {redraw(), csv(), png()}

const shows = run => !hiddenRuns.has(run);
const nameOf = run => `run ${run + 1}`;

// HTML and SVG elements. Texts become text nodes, never markup.
function element(name, attributes = {}, text = '') {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made[key] = value;
  if (text) made.textContent = text;
  return made;
}

function shape(parent, name, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// Four significant digits, or all digits before the point; an exponent from 1e9 on.
function numberText(value) {
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e9) return value.toFixed(0);
  return String(Number(value.toPrecision(4)));
}

function bytesText(bytes) {
  for (const [unit, name] of [[2 ** 30, 'GiB'], [1e9, 'GB'], [2 ** 20, 'MiB'], [1e6, 'MB'], [2 ** 10, 'KiB'], [1e3, 'kB']]) {
    if (bytes >= unit && bytes % unit === 0) return `${bytes / unit} ${name}`;
  }
  for (const [from, unit, name] of [[1e9, 1e9, 'GB'], [1e6, 1e6, 'MB'], [1e4, 1e3, 'kB']]) {
    if (bytes >= from) return `${numberText(bytes / unit)} ${name}`;
  }
  return `${bytes} B`;
}

const percentText = part => `${(100 * part).toFixed(1)} %`;
const textIn = form => form === 'bytes' ? bytesText : form === 'percent' ? percentText : numberText;

// Colours and marks. A number has a colour of nine, then the same nine with more contrast, then with less.
const kColours = 9;
const kMarks = [['circle', 0], ['triangle', 0], ['rect', 0], ['rectRot', 0], ['triangle', 180], ['star', 0], ['cross', 0],
                ['crossRot', 0], ['triangle', 270]];
const themeColour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function mixed(colour, other, part) {
  const channel = (text, at) => parseInt(text.slice(at, at + 2), 16);
  return '#' + [1, 3, 5].map(at => Math.round(channel(colour, at) * (1 - part) + channel(other, at) * part)
    .toString(16).padStart(2, '0')).join('');
}

function colourOf(number) {
  const base = themeColour(`c${number % kColours}`);
  const round = Math.floor(number / kColours);
  return round === 0 ? base : mixed(base, themeColour(round % 2 ? 'ink' : 'page'), 0.45);
}

// Marks shift with every nine numbers, so that 81 numbers differ in colour or mark.
const markOf = number => kMarks[(number + Math.floor(number / kColours)) % kColours];

// A number for each value of an axis. Algorithms of the registry have fixed numbers; other values take the free numbers.
function numbersOf(axis, values) {
  const numbers = new Map();
  const isAlgorithm = axis === 'algorithm' || axis === 'collective.algorithm';
  if (isAlgorithm) {
    for (const value of values) if (Object.hasOwn(data.looks, value)) numbers.set(value, data.looks[value]);
  }
  const taken = new Set([...numbers.values()].map(number => number % kColours));
  let next = 0;
  for (const value of values) {
    if (numbers.has(value)) continue;
    while (next < kColours && taken.has(next)) ++next;
    if (next === kColours && isAlgorithm) next = Math.max(next, ...[...numbers.values()].map(n => n + 1));
    numbers.set(value, next++);
  }
  return numbers;
}

const valuesOf = field => [...new Set(data.points.map(point => point[field]))];
const colourNumbers = numbersOf(data.colour.axis, valuesOf('colour'));
const markNumbers = numbersOf(data.mark.axis, valuesOf('mark'));

// A tip with the first line in bold; `at` is a place on the page.
const tip = document.getElementById('tip');

function showTip(lines, at) {
  tip.replaceChildren(element('b', {}, lines[0]), ...lines.slice(1).map(line => element('div', {}, line)));
  tip.hidden = false;
  const right = document.documentElement.clientWidth - tip.offsetWidth - 6;
  tip.style.left = `${Math.max(4, Math.min(at.x + 12, right))}px`;
  tip.style.top = `${at.y + 14}px`;
}

// The settings that differ between runs, as a tip shows them.
function settingLines(run) {
  const kMost = 14;
  const lines = data.keys.map((key, k) => [key, data.points[run].settings[k]]).filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}: ${value}`);
  return lines.length <= kMost ? lines : [...lines.slice(0, kMost), `and ${lines.length - kMost} more settings`];
}

// Files to save.
function save(name, url) {
  element('a', {download: name, href: url}).click();
}

function csvText(rows) {
  const cell = value => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map(row => row.map(cell).join(',') + '\n').join('');
}

function addTools(figure, picture, view) {
  const name = picture.title.replace(/[^\w.-]+/g, '_').slice(0, 60) || 'picture';
  const tools = element('div', {className: 'tools'});
  const png = element('button', {type: 'button'}, 'PNG');
  png.onclick = async () => save(`${name}.png`, await view.png());
  const csv = element('button', {type: 'button'}, 'CSV');
  csv.onclick = () => save(`${name}.csv`, 'data:text/csv;charset=utf-8,' + encodeURIComponent(csvText(view.csv())));
  tools.append(...(view.choices || []), png, csv);
  figure.insertBefore(tools, figure.querySelector('figcaption'));
}

// The filter: a choice for each key whose values repeat. It hides rows of tables, points and pictures.
function addFilter() {
  const form = document.getElementById('filter');
  const choices = [];
  data.keys.forEach((key, k) => {
    const values = [...new Set(data.points.map(point => point.settings[k]))];
    if (values.length < 2 || values.length > 40) return;
    const select = element('select');
    select.append(new Option('any', ''), ...values.map((value, v) => new Option(value === null ? 'not given' : value, v)));
    const label = element('label', {}, key);
    label.append(select);
    choices.push({label, select, fits: run => select.value === '' || data.points[run].settings[k] === values[select.value]});
  });
  if (choices.length === 0) return;
  const count = element('span');
  const apply = () => {
    data.points.forEach((_, run) => {
      if (choices.every(choice => choice.fits(run))) hiddenRuns.delete(run);
      else hiddenRuns.add(run);
    });
    count.textContent = `${data.points.length - hiddenRuns.size} of ${data.points.length} runs`;
    for (const row of document.querySelectorAll('tr[data-run]')) row.hidden = !shows(Number(row.dataset.run));
    for (const view of drawn) view.redraw();
  };
  const reset = element('button', {type: 'reset'}, 'All runs');
  const details = element('details', {open: choices.length <= 6});
  const list = element('div', {className: 'filters'});
  list.append(...choices.map(choice => choice.label), reset, count);
  details.append(element('summary', {}, 'Show only some runs'), list);
  form.append(details);
  form.hidden = false;
  form.onchange = apply;
  form.onreset = () => setTimeout(apply);
  form.onsubmit = () => false;
}

// Numbers of a column have their points below each other: hidden digits fill the shorter ones.
function alignNumbers(cells) {
  const parts = cells.map(cell => /^-?\d+(?:\.(\d+))?$/.exec(cell.textContent));
  const most = Math.max(...parts.map(part => part && part[1] ? part[1].length : 0));
  cells.forEach((cell, c) => {
    const digits = parts[c] && parts[c][1] ? parts[c][1].length : 0;
    if (parts[c] && digits < most) cell.append(element('span', {className: 'fill', ariaHidden: 'true'}, (digits ? '' : '.') + '0'.repeat(most - digits)));
  });
}

// A click on the title of a column sorts the rows.
function sortTables() {
  for (const table of document.querySelectorAll('table')) {
    const titles = [...table.tHead.rows[0].cells];
    titles.forEach((title, column) => {
      title.innerHTML = title.innerHTML.replaceAll('_', '_<wbr>');
      const cells = [...table.tBodies[0].rows].map(row => row.cells[column]);
      if (title.className === 'n') alignNumbers(cells);
      else if (cells.some(cell => cell.textContent.length > 24 && !cell.querySelector('code, pre'))) cells.forEach(cell => cell.classList.add('long'));
      title.setAttribute('aria-sort', 'none');
      title.tabIndex = 0;
      const sort = () => {
        const up = title.getAttribute('aria-sort') !== 'ascending';
        titles.forEach(other => other.setAttribute('aria-sort', 'none'));
        title.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const compare = (a, b) => a.localeCompare(b, 'en', {numeric: true});
        const number = text => parseFloat(text.replace(/[^\d.eE+-].*/, ''));
        const key = row => row.cells[column].textContent;
        const rows = [...table.tBodies[0].rows].sort((a, b) => {
          const [x, y] = [number(key(a)), number(key(b))];
          const order = title.className === 'n' && !isNaN(x) && !isNaN(y) ? x - y : compare(key(a), key(b));
          return up ? order : -order;
        });
        table.tBodies[0].append(...rows);
      };
      title.onclick = sort;
      title.onkeydown = event => { if (event.key === 'Enter') sort(); };
    });
  }
}

// Of a long list, the first entries; the others are folded.
function foldList(list) {
  const kMost = 24;
  const rest = list ? [...list.children].slice(kMost) : [];
  if (rest.length === 0) return;
  const more = element('ul');
  more.append(...rest);
  const details = element('details');
  details.append(element('summary', {}, `${rest.length} more workloads`), more);
  list.after(details);
}

document.addEventListener('DOMContentLoaded', () => {
  const kinds = {xy: drawXy, bars: drawBars, activity: drawActivity, links: drawLinks, tree: drawTree, occupancy: drawOccupancy};
  setChartDefaults();
  data.pictures.forEach((picture, n) => {
    const figure = document.getElementById(`picture-${n}`);
    figure.classList.add('drawn');
    const view = kinds[picture.kind](figure, picture);
    addTools(figure, picture, view);
    drawn.push(view);
  });
  addFilter();
  sortTables();
  foldList(document.querySelector('#summary > ul'));
  const redrawAll = () => drawn.forEach(view => view.redraw());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
  // Paper is light, and closed details have tables.
  addEventListener('beforeprint', () => { document.documentElement.dataset.print = ''; redrawAll(); });
  addEventListener('afterprint', () => { delete document.documentElement.dataset.print; redrawAll(); });
});
