// Charts: runs as points (xy), runs as bars of parts (bars), dimensions over time (activity). Chart.js draws them.
'use strict';

function setChartDefaults() {
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 13;
  Chart.defaults.plugins.tooltip.enabled = false;
  Chart.defaults.plugins.tooltip.external = ({chart, tooltip}) => {
    if (tooltip.opacity === 0 || !tooltip.dataPoints) { tip.hidden = true; return; }
    const box = chart.canvas.getBoundingClientRect();
    showTip(chart.linesOf(tooltip.dataPoints[0]), {x: box.left + scrollX + tooltip.caretX, y: box.top + scrollY + tooltip.caretY});
  };
  Chart.defaults.plugins.legend.position = 'bottom';
  Chart.defaults.plugins.legend.align = 'start';
  Chart.defaults.plugins.legend.labels.usePointStyle = true;
  Chart.defaults.plugins.legend.labels.boxHeight = 7;
}

// Pictures of one kind have one legend, below the last one, which switches series and marks of all of them.
const groups = new Map();
function groupOf(picture) {
  const name = picture.legend || picture;
  if (!groups.has(name)) groups.set(name, {switchedOff: new Set(), hiddenMarks: new Set(), views: []});
  return groups.get(name);
}

function toggle(group, set, value) {
  if (!set.delete(value)) set.add(value);
  for (const view of group.views) view.redraw();
}

// A chart whose configuration `configure` makes anew for every drawing.
function addChart(figure, picture, height, configure, linesOf) {
  const box = element('div', {className: 'canvas'});
  const canvas = element('canvas');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', picture.title);
  box.append(canvas);
  figure.insertBefore(box, figure.querySelector('figcaption'));
  const group = groupOf(picture);
  const {switchedOff} = group;
  const page = {id: 'page', beforeDraw: ({ctx, width, height: tall}) => {
    ctx.fillStyle = themeColour('page');
    ctx.fillRect(0, 0, width, tall);
  }};
  let chart;
  const view = {
    redraw() {
      if (chart) chart.destroy();
      Chart.defaults.color = themeColour('soft');
      Chart.defaults.borderColor = themeColour('grid');
      const config = configure();
      for (const set of config.data.datasets) set.hidden = switchedOff.has(set.label);
      box.style.height = `${typeof height === 'function' ? height(config) : height}px`;
      config.plugins = [page, ...(config.plugins || [])];
      chart = new Chart(canvas, config);
      chart.linesOf = linesOf;
      view.chart = chart;
    },
    async png() { return chart.toBase64Image(); }
  };
  canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
  group.views.push(view);
  return view;
}

// Series of a picture: those that it names, or one for each colour.
function seriesOf(picture) {
  if (!picture.series) {
    return [...new Set(picture.runs.map(run => data.points[run].colour))].map(value => ({
      label: data.colour.prefix + value, runs: picture.runs.filter(run => data.points[run].colour === value),
      colour: colourNumbers.get(value), mark: run => markNumbers.get(data.points[run].mark)
    }));
  }
  const taken = new Set();
  return picture.series.map((one, n) => {
    const first = data.points[picture.series[n].runs[0]];
    const colour = picture.numbered || !first ? n : colourNumbers.get(first.colour);
    const dashed = picture.dashed ? picture.dashed[n] : false;
    let mark = picture.numbered || !first ? n : markNumbers.get(first.mark);
    // Further lines of a colour take other marks.
    for (let tries = 0; tries < kColours && taken.has([colour % kColours, markOf(mark), dashed].join()); ++tries) ++mark;
    taken.add([colour % kColours, markOf(mark), dashed].join());
    return {label: one.label, runs: one.runs, colour, dashed, mark: () => mark};
  });
}

// The numbers of runs beside marks of a front, where no number would cover another one or a mark.
const frontNumbers = (front, places) => ({id: 'numbers', afterDatasetsDraw: chart => {
  const {ctx} = chart;
  const covered = [];
  const marks = chart.data.datasets.flatMap((set, s) => chart.isDatasetVisible(s) ? chart.getDatasetMeta(s).data : [])
    .filter(mark => mark.options.radius > 0);
  ctx.save();
  ctx.textBaseline = 'alphabetic';
  ctx.textAlign = 'left';
  ctx.font = `12px ${Chart.defaults.font.family}`;
  for (const [run, others] of front) {
    const at = places(chart, run);
    if (!at) continue;
    const words = others ? `${run + 1} (+${others})` : String(run + 1);
    const wide = ctx.measureText(words).width;
    for (const [aside, down] of [[6, -7], [6, 16], [-6 - wide, -7], [-6 - wide, 16]]) {
      const box = {left: at.x + aside, right: at.x + aside + wide, line: at.y + down};
      const hits = covered.some(o => box.left < o.right && o.left < box.right && Math.abs(box.line - o.line) < 12) ||
        marks.some(mark => mark.x > box.left - 5 && mark.x < box.right + 5 && mark.y > box.line - 14 && mark.y < box.line + 5);
      if (hits || box.right > chart.width || box.left < chart.chartArea.left) continue;
      covered.push(box);
      ctx.lineWidth = 3;
      ctx.strokeStyle = themeColour('page');
      ctx.strokeText(words, box.left, box.line);
      ctx.fillStyle = themeColour('ink');
      ctx.fillText(words, box.left, box.line);
      break;
    }
  }
  ctx.restore();
}});

// picture: x, y (metrics); runs, or series of runs that lines join; bound; front, dominated; legend (a group), share (its axes); linear.
function drawXy(figure, picture) {
  // Pictures with one legend have each other's series; those with equal axes count each other's runs, too.
  const sharing = picture.legend ? data.pictures.filter(p => p.legend === picture.legend) : [picture];
  const drawn = new Set(picture.runs);
  const series = seriesOf(picture.legend ? {...picture, runs: sharing.flatMap(p => p.runs)} : picture)
    .map(one => ({...one, first: one.runs[0], runs: picture.legend ? one.runs.filter(run => drawn.has(run)) : one.runs}));
  const listed = picture.legend ? sharing.flatMap(p => p.runs) : series.flatMap(one => one.runs);
  const counted = picture.share || !picture.legend ? listed : picture.runs;
  const axes = axesFor(counted);
  const axisOf = id => axes.find(axis => axis.id === id);
  const dominated = new Set(picture.dominated || []);
  const group = groupOf(picture);
  const state = {x: picture.x, y: picture.y, hiddenMarks: group.hiddenMarks};
  const known = run => shows(run) && axisOf(state.x).value(run) !== null && axisOf(state.y).value(run) !== null;
  const isOriginal = () => state.x === picture.x && state.y === picture.y;
  const valuesOn = (id, runs) => runs.map(axisOf(id).value).filter(value => value !== null);
  const rangeOf = id => valuesOn(id, counted.filter(shows));
  const boundPoints = () => picture.bound && isOriginal() ? picture.bound.points : [];

  // Choices of the reader.
  const choices = [];
  const logs = {};
  for (const axis of ['x', 'y']) {
    const select = element('select', {title: `${axis} axis`});
    select.append(...axes.map(one => new Option(one.title, one.id, false, one.id === state[axis])));
    select.dataset.axis = axis;
    const log = element('input', {type: 'checkbox'});
    log.dataset.log = axis;
    const choose = () => {
      state[axis] = select.value;
      const values = valuesOn(select.value, counted);
      log.disabled = Boolean(axisOf(select.value).words) || Math.min(...values) <= 0;
      log.checked = !picture.linear && suitsLog(axisOf(select.value), values);
    };
    choose();
    select.onchange = () => { choose(); view.redraw(); };
    log.onchange = () => view.redraw();
    const logLabel = element('label');
    logLabel.append(log, 'log');
    const label = element('label', {}, `${axis} `);
    label.append(select);
    choices.push(label, logLabel);
    logs[axis] = log;
  }

  const pointStyles = one => {
    const colour = colourOf(one.colour);
    const page = themeColour('page');
    const isThin = run => ['star', 'cross', 'crossRot'].includes(markOf(one.mark(run))[0]);
    const off = run => one.dashed || (dominated.has(run) && isOriginal());
    return {
      pointStyle: one.data.map(at => markOf(one.mark(at.run))[0]), pointRotation: one.data.map(at => markOf(one.mark(at.run))[1]),
      pointBackgroundColor: one.data.map(at => off(at.run) ? page : colour), pointBorderColor: colour,
      pointBorderWidth: one.data.map(at => isThin(at.run) ? (off(at.run) ? 1.2 : 3) : 1.6), pointRadius: one.data.map(at => isThin(at.run) ? 6 : 5), pointHoverRadius: 7
    };
  };
  const datasets = () => {
    const sets = series.map(one => {
      one.data = one.runs.filter(known).filter(run => !state.hiddenMarks.has(data.points[run].mark))
        .sort((a, b) => picture.front ? dominated.has(b) - dominated.has(a) : 0)  // those of the front on top
        .map(run => ({x: axisOf(state.x).value(run), y: axisOf(state.y).value(run), run}));
      const colour = colourOf(one.colour);
      return {label: one.label, data: one.data, showLine: Boolean(picture.series) && state.x === picture.x, borderColor: colour,
        backgroundColor: colour, borderWidth: 2, borderDash: one.dashed ? [7, 4] : [], clip: 8, isDashed: one.dashed, ...pointStyles(one),
        legendMark: picture.series || data.colour.axis === data.mark.axis ? markOf(one.mark(one.first)) : kMarks[0]};
    });
    const bound = boundPoints();
    if (bound.length > 0) {
      sets.push({label: picture.bound.label, data: bound.map(([x, y]) => ({x, y})), showLine: true, borderColor: themeColour('ink'),
        borderWidth: 1.6, borderDash: [2, 4], pointRadius: 0, pointHitRadius: 4, pointStyle: 'line', legendMark: ['line', 0]});
    }
    if (picture.front && isOriginal()) {
      const stairs = picture.front.map(([run]) => run).filter(known).map(run => ({x: axisOf(state.x).value(run), y: axisOf(state.y).value(run)}))
        .sort((a, b) => a.x - b.x);
      if (stairs.length > 0) stairs.push({x: Math.max(...rangeOf(state.x)), y: stairs[stairs.length - 1].y});
      sets.push({label: 'Pareto front', data: stairs, showLine: true, stepped: 'before', borderColor: themeColour('soft'), borderWidth: 1.4,
        pointRadius: 0, pointHitRadius: 0, pointHoverRadius: 0, pointStyle: 'line', legendMark: ['line', 0]});
    }
    return sets;
  };
  // Grey entries of the legend for marks that stand for an axis of their own.
  const markEntries = picture.series || data.colour.axis === data.mark.axis ? []
    : [...new Set(listed.map(run => data.points[run].mark))];
  const legend = {
    labels: {generateLabels: chart => [
      ...chart.data.datasets.map((set, s) => ({text: set.label, datasetIndex: s, hidden: !chart.isDatasetVisible(s), fontColor: themeColour('ink'),
        fillStyle: set.isDashed ? themeColour('page') : set.backgroundColor || 'transparent', strokeStyle: set.borderColor, lineWidth: set.legendMark[0] === 'line' ? 1.6 : 2,
        lineDash: set.legendMark[0] === 'line' ? set.borderDash : [], pointStyle: set.legendMark[0], rotation: set.legendMark[1]})),
      ...markEntries.map(value => ({text: data.mark.prefix + value, mark: value, hidden: state.hiddenMarks.has(value), fontColor: themeColour('ink'),
        fillStyle: themeColour('soft'), strokeStyle: themeColour('soft'), lineWidth: 2, pointStyle: markOf(markNumbers.get(value))[0],
        rotation: markOf(markNumbers.get(value))[1]}))]},
    display: sharing[sharing.length - 1] === picture,
    onClick: (event, item) => item.mark === undefined ? toggle(group, group.switchedOff, item.text) : toggle(group, group.hiddenMarks, item.mark)
  };
  const view = addChart(figure, picture, () => 330 + 18 * Math.ceil((series.length + markEntries.length) / 3), () => {
    const scales = {};
    for (const axis of ['x', 'y']) {
      const values = [...rangeOf(state[axis]), ...boundPoints().map(point => point[axis === 'x' ? 0 : 1])];
      scales[axis] = values.length === 0 ? {} : scaleOf(axisOf(state[axis]), values, logs[axis].checked && !logs[axis].disabled,
        !picture.front);
    }
    const places = (chart, run) => known(run) && isOriginal() && chart.data.datasets.some((set, s) =>
      chart.isDatasetVisible(s) && set.data.some(at => at.run === run)) &&
      {x: chart.scales.x.getPixelForValue(axisOf(state.x).value(run)), y: chart.scales.y.getPixelForValue(axisOf(state.y).value(run))};
    return {type: 'line', data: {datasets: datasets()}, plugins: picture.front ? [frontNumbers(picture.front, places)] : [],
      options: {parsing: false, scales, interaction: {mode: 'nearest', intersect: true}, plugins: {legend}, layout: {padding: {right: 12, top: 6}}}};
  }, ({raw, dataset}) => {
    const value = axis => `${axis.title}: ${axis.words ? axis.words[raw[axis === axisOf(state.x) ? 'x' : 'y']] : textIn(axis.form)(raw[axis === axisOf(state.x) ? 'x' : 'y'])}`;
    const places = [value(axisOf(state.x)), value(axisOf(state.y))];
    if (raw.run === undefined) return [dataset.label, ...places];
    const point = data.points[raw.run];
    return [point.title, ...places, ...(picture.front ? [dominated.has(raw.run) ? 'dominated' : 'on the front'] : []),
            ...settingLines(raw.run)];
  });
  view.choices = choices;
  view.csv = () => {
    const [x, y] = [axisOf(state.x), axisOf(state.y)];
    const cell = (axis, value) => axis.words ? axis.words[value] : value;
    const rows = [['run', 'series', x.title, y.title, ...(picture.front ? ['on front'] : []), ...data.keys]];
    for (const one of series) {
      for (const run of one.runs.filter(known)) {
        rows.push([run + 1, one.label, cell(x, x.value(run)), cell(y, y.value(run)),
                   ...(picture.front ? [dominated.has(run) ? 'no' : 'yes'] : []), ...data.points[run].settings]);
      }
    }
    for (const [atX, atY] of boundPoints()) rows.push(['', picture.bound.label, atX, atY, ...data.keys.map(() => '')]);
    return rows;
  };
  view.redraw();
  return view;
}

// picture: unit, parts, bars of {runs, label, values, notes, more}; most; sort, side_by_side, percent; more (a pale end).
function drawBars(figure, picture) {
  const value = (bar, part, p) => (Array.isArray(bar.values) ? bar.values[p] : bar.values[part]) || 0;
  const sum = bar => picture.parts.reduce((total, part, p) => total + value(bar, part, p), 0);
  const note = element('p', {className: 'tools'});
  figure.insertBefore(note, figure.querySelector('figcaption'));
  // Bars in the order of their sums; of too many, evenly spread ones if they have no other order.
  const chosen = () => {
    let bars = picture.bars.filter(bar => bar.runs.some(shows));
    if (picture.sort) bars = [...bars].sort((a, b) => sum(a) - sum(b));
    const count = bars.length;
    if (count > picture.most) {
      bars = picture.more ? Array.from({length: picture.most}, (_, n) => bars[Math.floor(n * (count - 1) / (picture.most - 1))]) : bars.slice(0, picture.most);
    }
    const which = picture.sort ? ', those with the least' : picture.more ? ', from the smallest to the largest' : '';
    note.textContent = count > bars.length ? `${bars.length} of ${count} bars${which}. Choose others above.` : '';
    note.hidden = note.textContent === '';
    return bars;
  };
  const textOf = picture.percent ? percentText : numberText;
  let bars = [];
  const barsHeight = picture.side_by_side ? 16 * picture.parts.length : 20;
  const rowHeight = barsHeight + 32;
  const labels = {id: 'labels', afterDatasetsDraw: chart => {
    const {ctx, chartArea, scales} = chart;
    ctx.save();
    ctx.textBaseline = 'alphabetic';
    ctx.textAlign = 'left';
    ctx.font = `13px ${Chart.defaults.font.family}`;
    ctx.fillStyle = themeColour('ink');
    bars.forEach((bar, b) => {
      let words = bar.label;
      const room = chart.width - chartArea.left - 6;
      while (words.length > 4 && ctx.measureText(words).width > room) words = words.slice(0, -2).replace(/\W*$/, '') + '\u2026';
      ctx.fillText(words, chartArea.left + 3, scales.y.getPixelForValue(b) - barsHeight / 2 - 4);
    });
    ctx.restore();
  }};
  const parts = () => picture.parts.filter((part, p) => picture.bars.some(bar => value(bar, part, p) > 0) || picture.side_by_side);
  const height = () => bars.length * rowHeight + 80 + 22 * Math.ceil(parts().length / 2.5);
  const view = addChart(figure, picture, height, () => {
    bars = chosen();
    const bar = {grouped: true, barThickness: picture.side_by_side ? 14 : 19, borderColor: themeColour('page'), borderWidth: 1, borderSkipped: false};
    // The label stands in the upper part of a row, so bars lie below its middle.
    const datasets = parts().map(part => {
      const p = picture.parts.indexOf(part);
      return {...bar, label: part, part, data: bars.map(one => value(one, part, p)), backgroundColor: colourOf(p)};
    });
    if (picture.more) {
      datasets.push({...bar, label: picture.more, data: bars.map(one => one.more || 0), backgroundColor: themeColour('grid'), borderColor: themeColour('soft')});
    }
    const highest = picture.percent ? 1 : Math.max(...bars.map(one => sum(one) + (one.more || 0)), 0) || 1;
    const x = scaleOf({title: picture.unit, form: picture.percent ? 'percent' : 'number'}, [0, highest], false, true);
    if (picture.percent) x.ticks.callback = part => `${Math.round(100 * part)} %`;
    return {type: 'bar', data: {labels: bars.map(one => one.label), datasets}, plugins: [labels],
      options: {indexAxis: 'y', scales: {x: {...x, stacked: !picture.side_by_side},
        y: {stacked: !picture.side_by_side, ticks: {display: false}, grid: {display: false}, afterFit: scale => { scale.width = 4; }}},
        plugins: {legend: {onClick: (event, item) => toggle(groupOf(picture), groupOf(picture).switchedOff, item.text), labels: {usePointStyle: false, boxWidth: 12, boxHeight: 12, color: themeColour('ink')}}}, layout: {padding: {right: 14}}}};
  }, ({datasetIndex, dataIndex, dataset}) => {
    const one = bars[dataIndex];
    const amount = dataset.data[dataIndex];
    const detail = one.notes && one.notes[dataset.part];
    const share = picture.side_by_side || dataset.label === picture.more || sum(one) === 0 ? '' : `, ${percentText(amount / sum(one))}`;
    return [one.label, `${dataset.label}: ${textOf(amount)}${share}`, ...(detail ? [detail] : []), ...(one.runs.length === 1 ? settingLines(one.runs[0]) : [])];
  });
  view.csv = () => [['bar', ...picture.parts.map(part => picture.percent ? part : `${part} (${picture.unit})`), ...(picture.more ? [picture.more] : [])],
    ...picture.bars.filter(one => one.runs.some(shows)).map(one => [one.label, ...picture.parts.map((part, p) => value(one, part, p)),
      ...(picture.more ? [one.more] : [])])];
  view.redraw();
  return view;
}

// picture: runs, period_us, end_us, longest_us, dimensions of {name, parts}: a strip for each.
function drawActivity(figure, picture) {
  const {period_us: period, dimensions} = picture;
  const longest = picture.longest_us || period * dimensions[0].parts.length;
  const end = picture.end_us || longest;
  const view = addChart(figure, picture, 90 + 58 * dimensions.length, () => {
    const x = scaleOf({title: 'time, \u00b5s', form: 'number'}, [0, longest], false, true);
    const scales = {x};
    // The first scale is the lowest one.
    [...dimensions].reverse().forEach(dimension => {
      scales[`y ${dimension.name}`] = {type: 'linear', position: 'left', stack: 'dimensions', stackWeight: 1, min: 0, max: 1,
        title: {display: true, text: dimension.name, color: themeColour('ink')}, ticks: {stepSize: 1, callback: part => part === 1 ? '100 %' : ''}, offset: true};
    });
    const datasets = dimensions.map((dimension, d) => ({label: dimension.name, yAxisID: `y ${dimension.name}`, stepped: 'before', fill: 'origin',
      data: [...dimension.parts.map((part, n) => ({x: Math.min(n * period, end), y: part})), {x: end, y: 0}].flatMap((at, n, list) =>
        n === 0 ? [at] : [{x: at.x, y: list[n - 1].y}, at]),
      backgroundColor: colourOf(d), borderColor: colourOf(d), borderWidth: 1, pointRadius: 0, pointHitRadius: 6}));
    return {type: 'line', data: {datasets}, options: {parsing: false, scales, plugins: {legend: {display: false}}, layout: {padding: {right: 14}}}};
  }, ({raw, dataset, datasetIndex}) => {
    const {parts} = dimensions[datasetIndex];
    return [picture.title, `${dataset.label}: busy ${percentText(raw.y)} of the period at ${numberText(raw.x)} \u00b5s`,
            `mean ${percentText(parts.reduce((a, b) => a + b, 0) / parts.length)} of ${parts.length} periods`];
  });
  view.csv = () => [['start of period, \u00b5s', ...dimensions.map(dimension => dimension.name)],
    ...dimensions[0].parts.map((_, n) => [n * period, ...dimensions.map(dimension => dimension.parts[n])])];
  const draw = view.redraw;
  view.redraw = () => { figure.hidden = !picture.runs.some(shows); draw(); };
  view.redraw();
  return view;
}
