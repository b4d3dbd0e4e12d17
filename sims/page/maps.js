// Maps and schedules as SVG: busy links, the tree of a flow, links in use over time.
'use strict';

const kLevels = 10;  // classes h0 to h9
const heatLevel = part => Math.min(Math.floor(Math.max(0, Math.min(part, 1)) * kLevels), kLevels - 1);

// An SVG with tips: `tipAt(event)` returns lines, or nothing.
function addSvg(figure, picture, width, height, tipAt) {
  const svg = shape(figure, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': picture.title});
  figure.insertBefore(svg, figure.querySelector('figcaption'));
  shape(svg, 'title', {}, picture.title);
  const point = event => {
    const lines = tipAt(event);
    if (lines) showTip(lines, {x: event.pageX, y: event.pageY});
    else tip.hidden = true;
  };
  svg.addEventListener('mousemove', point);
  svg.addEventListener('click', point);
  svg.addEventListener('mouseleave', () => { tip.hidden = true; });
  return svg;
}

const ownTip = event => event.target.dataset.tip ? event.target.dataset.tip.split('\n') : null;

// A view of an SVG that is drawn once; style sheets follow light and dark.
function svgView(figure, picture, svg, csv) {
  return {
    redraw() { figure.hidden = !picture.runs.some(shows); },
    csv,
    async png() {
      const kScale = 2;
      const {width, height} = svg.viewBox.baseVal;
      const copy = svg.cloneNode(true);
      copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
      copy.setAttribute('width', width);
      copy.setAttribute('height', height);
      const style = shape(copy, 'style', {}, document.querySelector('style').textContent + 'svg { background: var(--page); }');
      copy.prepend(style);
      const image = new Image();
      image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(copy));
      await image.decode();
      const canvas = element('canvas', {width: width * kScale, height: height * kScale});
      const context = canvas.getContext('2d');
      context.fillStyle = themeColour('page');
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toDataURL('image/png');
    }
  };
}

function addHeatKey(svg, x, y, words) {
  shape(svg, 'text', {class: 'tick', x, y: y + 11}, '0 %');
  for (let level = 0; level < kLevels; ++level) shape(svg, 'rect', {class: `cell h${level}`, x: x + 30 + 15 * level, y: y + 1, width: 15, height: 12});
  shape(svg, 'text', {class: 'tick', x: x + 186, y: y + 11}, '100 %');
  shape(svg, 'text', {class: 'tick', x: x + 236, y: y + 11}, words);
}

function addLabels(svg, labels) {
  for (const [words, x, y] of labels) shape(svg, 'text', {class: 'note', x, y}, words);
}

function addSwitch(svg, map, vertex, size) {
  const [x, y] = map.places[vertex];
  shape(svg, 'rect', {class: 'vertex switch', x: x - size, y: y - size, width: 2 * size, height: 2 * size, 'data-tip': map.names[vertex]});
}

// picture: runs, map, size of vertices, links of [from, to, utilization, path], labels.
function drawLinks(figure, picture) {
  const map = data.maps[picture.map];
  const svg = addSvg(figure, picture, map.width, map.height + 32, ownTip);
  const width = Math.max(0.8, Math.min(map.room * 0.2, 5));
  // The busiest links are drawn last, so that they stay visible.
  for (const [from, to, part, path] of [...picture.links].sort((a, b) => a[2] - b[2])) {
    shape(svg, 'path', {class: `link h${heatLevel(part)}`, 'stroke-width': width, d: path,
      'data-tip': `${map.names[from]} to ${map.names[to]}\nbusy ${percentText(part)} of the time`});
  }
  map.places.forEach(([cx, cy], vertex) => {
    if (map.switches[vertex]) addSwitch(svg, map, vertex, picture.size);
    else shape(svg, 'circle', {class: 'vertex', cx, cy, r: picture.size, 'data-tip': map.names[vertex]});
  });
  addLabels(svg, picture.labels);
  addHeatKey(svg, 4, map.height + 12, 'of the time');
  return svgView(figure, picture, svg, () => [['from', 'to', 'utilization'],
    ...picture.links.map(([from, to, part]) => [map.names[from], map.names[to], part])]);
}

// picture: runs, map, size, wires (all links as one path), edges of [from, to, number, path, names along the route], ascending in
// number, reduces, planned (numbers are times), number (what it is), labels.
function drawTree(figure, picture) {
  const map = data.maps[picture.map];
  const svg = addSvg(figure, picture, map.width, map.height, ownTip);
  shape(svg, 'path', {class: 'wire', d: picture.wires});
  const numbers = map.places.map(() => []);
  const isPart = map.places.map(() => false);
  const last = picture.edges[picture.edges.length - 1][2];
  const differ = picture.edges[0][2] !== last;
  for (const [from, to, number, path, route] of picture.edges) {
    shape(svg, 'path', {class: 'edge', d: path, 'data-tip': `${map.names[from]} to ${map.names[to]}\nroute: ${route}\n${picture.number} ${number}`});
    numbers[picture.reduces ? from : to].push(number);
    isPart[from] = isPart[to] = true;
  }
  map.places.forEach(([cx, cy], vertex) => {
    const own = numbers[vertex];
    if (map.switches[vertex]) return addSwitch(svg, map, vertex, 6);
    if (own.length === 0) {
      return shape(svg, 'circle', {class: isPart[vertex] ? 'root' : 'vertex', cx, cy, r: isPart[vertex] ? picture.size : picture.size * 0.6,
        'data-tip': map.names[vertex] + (isPart[vertex] ? '\nroot' : '')});
    }
    const level = heatLevel((own[0] - (picture.planned ? 0 : 0.5)) / last);
    const words = `${map.names[vertex]}\n${picture.number} ${own.join(', ')}`;
    shape(svg, 'circle', {class: `step h${level}`, cx, cy, r: picture.size, 'data-tip': words});
    if (picture.size < 8 || !differ) return null;
    return shape(svg, 'text', {class: `number middle ${level >= kLevels / 2 ? 'on-much' : 'on-little'}`, x: cx, y: cy + 4, 'data-tip': words},
      own[0].toFixed(picture.planned && own[0] < 10 ? 1 : 0) + (own.length > 1 ? '\u2026' : ''));
  });
  addLabels(svg, picture.labels);
  return svgView(figure, picture, svg, () => [['from', 'to', picture.number, 'route'],
    ...picture.edges.map(([from, to, number, , route]) => [map.names[from], map.names[to], number, route])]);
}

// picture: runs, unit, end_us (null: columns are timesteps), names, rows of percents, all (parts by column).
function drawOccupancy(figure, picture) {
  const kWidth = 460;
  const kBars = 70;
  const {names, rows, all} = picture;
  const cell = Math.max(3, Math.min(260 / rows.length, 18));
  const left = 34 + 7.4 * Math.max(5, ...names.map(name => name.length));
  const right = kWidth - 14;
  const top = 14 + kBars + 12;
  const bottom = top + rows.length * cell;
  const step = (right - left) / all.length;
  const columnName = column => picture.end_us === null ? `timestep ${column + 1}`
    : `${numberText(column * picture.end_us / all.length)} to ${numberText((column + 1) * picture.end_us / all.length)} \u00b5s`;
  const svg = addSvg(figure, picture, kWidth, bottom + 78, event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const column = Math.floor((at.x - left) / step);
    const row = Math.floor((at.y - top) / cell);
    if (column < 0 || column >= all.length || at.y > bottom) return null;
    if (at.y < top) return [columnName(column), `${percentText(all[column])} of all links`];
    return [`${names[row]}, ${columnName(column)}`, `${rows[row][column]} % of its links`];
  });
  for (const part of [0, 0.5, 1]) {
    const y = 14 + kBars * (1 - part);
    shape(svg, 'path', {class: 'grid', d: `M${left} ${y}H${right}`});
    shape(svg, 'text', {class: 'tick end', x: left - 5, y: y + 4}, `${100 * part} %`);
  }
  const gap = step < 5 ? 0 : 1;
  all.forEach((part, column) => shape(svg, 'rect', {class: 'bar', x: left + column * step + gap / 2, y: 14 + kBars * (1 - part),
    width: step - gap, height: kBars * part}));
  shape(svg, 'rect', {class: 'strip', x: left, y: top, width: right - left, height: bottom - top});
  // All cells of a level are one path, because most rows are long runs of equal cells.
  const paths = Array(kLevels).fill('');
  rows.forEach((row, v) => {
    for (let begin = 0; begin < row.length;) {
      let end = begin + 1;
      while (end < row.length && row[end] === row[begin]) ++end;
      if (row[begin] > 0) paths[heatLevel(row[begin] / 100)] += `M${left + begin * step} ${top + v * cell}h${(end - begin) * step}v${cell}h${(begin - end) * step}z`;
      begin = end;
    }
  });
  paths.forEach((d, level) => { if (d) shape(svg, 'path', {class: `cell h${level}`, d}); });
  const every = Math.max(1, Math.ceil(14 / cell));
  names.forEach((name, v) => { if (v % every === 0) shape(svg, 'text', {class: 'tick end', x: left - 5, y: top + (v + 0.5) * cell + 4}, name); });
  // Ticks: middles of timesteps, or places on the axis of time.
  const isTime = picture.end_us !== null;
  const place = tick => isTime ? left + tick / picture.end_us * (right - left) : left + (tick - 0.5) * step;
  const ticks = isTime ? linearTicks(0, picture.end_us).filter(tick => tick <= picture.end_us)
    : [...new Set([1, ...linearTicks(1, Math.max(2, all.length))])].filter(tick => tick >= 1 && tick <= all.length && Number.isInteger(tick));
  for (const tick of ticks) shape(svg, 'text', {class: 'tick middle', x: place(tick), y: bottom + 16}, numberText(tick));
  shape(svg, 'text', {class: 'label middle', x: (left + right) / 2, y: bottom + 36}, picture.unit);
  shape(svg, 'text', {class: 'label middle', transform: `translate(15 ${(top + bottom) / 2}) rotate(-90)`}, 'sender');
  shape(svg, 'text', {class: 'label middle', transform: `translate(15 ${14 + kBars / 2}) rotate(-90)`}, 'all links');
  addHeatKey(svg, left - 30, bottom + 52, 'of a sender\u2019s links');
  return svgView(figure, picture, svg, () => [['column', 'all links', ...names],
    ...all.map((part, column) => [columnName(column), part, ...rows.map(row => row[column] / 100)])]);
}
