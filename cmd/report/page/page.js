'use strict';
// Reads values of the charts by pointer and by arrow keys. Everything is text: no name from the
// document becomes markup.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  let paper;
  const figures = () => (paper ||= JSON.parse(document.getElementById('paper').textContent)).figures;

  // text gives a value the words that the tables use: as Unit.Text of package figure.
  const fixed = (v, places) => {
    const tie = v * 2 ** (places + 1), whole = v * 10 ** places;
    if (Number.isInteger(tie) && Math.abs(whole % 1) === 0.5) { // halves go to the even digit
      v = 2 * Math.round(whole / 2) / 10 ** places;
    }
    return v.toFixed(places);
  };
  const general = (v, digits) => {
    const [m, e] = v.toExponential(digits - 1).split('e');
    if (+e >= -4 && +e < digits) return String(Number(v.toPrecision(digits)));
    return String(Number(m)) + 'e' + (e < 0 ? '-' : '+') + String(Math.abs(e)).padStart(2, '0');
  };
  const grouped = (v, places) => {
    if (Math.abs(v) >= 1e21) return general(v, 4);
    const [whole, rest] = fixed(Math.abs(v), places).split('.');
    const text = whole.replace(/\B(?=(\d{3})+$)/g, ',') + (rest ? '.' + rest : '');
    return (v < 0 && /[1-9]/.test(text) ? '-' : '') + text;
  };
  const rounded = (v) => {
    const a = Math.abs(v);
    if (Number.isInteger(v) || a >= 99.95) return grouped(v, 0);
    return a >= 9.995 ? grouped(v, 1) : a >= 0.1 ? grouped(v, 2) : general(v, 3);
  };
  const dollars = (v) => {
    const a = Math.abs(v), small = a > 0 && a < 0.01;
    let text = grouped(v, a >= 99.995 ? 0 : small ? 6 : 2);
    if (small) text = text.replace(/0+$/, '').replace(/^.*\.$/, '0.00');
    return text[0] === '-' ? '-$' + text.slice(1) : '$' + text;
  };
  const pad = (n) => String(n).padStart(2, '0');
  const length = (s) => {
    if (s < 0) return '-' + length(-s);
    if (s < 60) return s + ' s';
    const m = Math.floor(s / 60), h = Math.floor(s / 3600), d = Math.floor(s / 86400);
    if (s < 3600) return s % 60 === 0 || s >= 600 ? Math.floor((s + 30) / 60) + ' min' : m + 'm' + pad(s % 60) + 's';
    return s < 172800 ? h + 'h' + pad(m % 60) + 'm' : d + 'd' + pad(h % 24) + 'h';
  };
  const round = (v) => Math.sign(v) * Math.round(Math.abs(v));
  const seconds = (v) => {
    if (Math.abs(v) >= 1e12) return rounded(v / 86400) + ' d';
    return !Number.isInteger(v) && Math.abs(v) < 10 ? rounded(v) + ' s' : length(round(v));
  };
  const moment = (v) => {
    if (!(v > -62135596800 && v < 253402300800)) return 'n/a';
    const [day, clock] = new Date(Math.floor(v) * 1000).toISOString().split(/[T.]/);
    if (clock === '00:00:00') return day;
    return day + ' ' + (clock.endsWith(':00') ? clock.slice(0, 5) : clock);
  };
  const text = (unit, v) => {
    if (v === null || v === undefined || !Number.isFinite(v)) return 'n/a';
    switch (unit) {
      case 'usd': return dollars(v);
      case 's': return seconds(v);
      case 'share': return (Math.abs(v * 100) > 0 && Math.abs(v * 100) < 0.1 ? general(v * 100, 2) : grouped(v * 100, 1)) + '%';
      case 'time': return moment(v);
      case 'gpu_hours': return rounded(v) + ' GPU-h';
    }
    return rounded(v);
  };
  // clean leaves out what controls or turns text.
  const clean = (s) => s.replace(/[\t\n\r\u2028\u2029]/g, ' ').replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '');
  window.capcli = Object.freeze({text});

  const known = (v) => v !== null && v !== undefined;
  const ranged = (f, s, i) => {
    let said = text(f.y.unit, s.y && s.y[i]);
    if (s.lo && s.hi) said += ' (' + text(f.y.unit, s.lo[i]) + ' to ' + text(f.y.unit, s.hi[i]) + ')';
    return said;
  };
  const named = (s) => (s.name ? s.name + ' ' : '');
  // said joins what series say at one place: not more than twelve.
  const said = (place, parts) => {
    const rest = parts.length - 12;
    return place + ': ' + parts.slice(0, 12).join(', ') + (rest > 0 ? ' and ' + rest + ' more' : '');
  };

  // stops returns the places of a figure that can be read: pixels, text, and what to draw there.
  const stopsOf = (f, p) => {
    const across = (v) => p.left + (v - p.x[0]) / (p.x[1] - p.x[0]) * (p.right - p.left);
    const up = (v) => p.bottom - (v - p.y[0]) / (p.y[1] - p.y[0]) * (p.bottom - p.top);
    const names = f.x.names || [], stops = [];
    const slot = (i) => p.flip ?
      {x: (p.left + p.right) / 2, y: p.top + (i + 0.5) * (p.bottom - p.top) / p.names, flip: true} :
      {x: p.left + (i + 0.5) * (p.right - p.left) / p.names, y: p.top};
    switch (f.kind) {
      case 'heat': {
        const width = (p.right - p.left) / p.names;
        p.rows.forEach(([y0, y1], row) => {
          for (let i = 0; i < p.names; i++) {
            stops.push({x: p.left + (i + 0.5) * width, y: (y0 + y1) / 2, box: [p.left + i * width, y0, width, y1 - y0],
              text: f.series[row].name + ', ' + names[i] + ': ' + text(f.y.unit, f.series[row].y[i])});
          }
        });
        return stops;
      }
      case 'spans':
        p.rows.forEach(([y0, y1], row) => {
          const s = f.series[row];
          (s.lo || []).forEach((lo, i) => {
            if (!known(lo)) return;
            const end = known(s.hi[i]) ? across(s.hi[i]) : p.right;
            const label = s.labels && s.labels[i] ? s.labels[i] : s.y ? text(f.y.unit, s.y[i]) : '';
            stops.push({x: (across(lo) + end) / 2, y: (y0 + y1) / 2, box: [across(lo), y0, Math.max(1, end - across(lo)), y1 - y0],
              text: s.name + ': ' + text(f.x.unit, lo) + ' to ' + (known(s.hi[i]) ? text(f.x.unit, s.hi[i]) : 'an unknown end') + (label ? ', ' + label : '')});
          });
        });
        return stops;
      case 'points':
        for (const s of f.series) {
          (names.length ? names.map((_, i) => i) : s.x || []).forEach((x, i) => {
            if (!known(x) || !known(s.y[i])) return;
            stops.push({x: across(x), y: up(s.y[i]), dot: true,
              text: (s.labels && s.labels[i] ? s.labels[i] + ', ' : '') + named(s) + (names.length ? names[i] : text(f.x.unit, x)) + ': ' + ranged(f, s, i)});
          });
        }
        return stops.sort((a, b) => a.x - b.x || a.y - b.y);
      case 'tornado':
        for (let i = 0; i < p.names; i++) {
          const s = f.series[0];
          stops.push({...slot(i), text: names[i] + ': low ' + text(f.y.unit, s.lo[i]) + ', high ' + text(f.y.unit, s.hi[i])});
        }
        return stops;
    }
    if (names.length) {
      for (let i = 0; i < p.names; i++) {
        stops.push({...slot(i), text: said(names[i], f.series.map((s) => named(s) + ranged(f, s, i)))});
      }
      return stops;
    }
    const places = new Map();
    for (const s of f.series) {
      (s.x || []).forEach((x, i) => {
        if (!known(x)) return;
        if (!places.has(x)) places.set(x, []);
        places.get(x).push(named(s) + ranged(f, s, i));
      });
    }
    for (const x of [...places.keys()].sort((a, b) => a - b)) {
      const parts = places.get(x), place = text(f.x.unit, x);
      stops.push({x: across(x), y: p.top, get text() { return said(place, parts); }});
    }
    return stops;
  };

  for (const plot of document.querySelectorAll('.plot[data-plot]')) {
    const svg = plot.querySelector('svg'), out = plot.parentElement.querySelector('.reading');
    let state, at = -1, shape;
    const ready = () => {
      if (state) return state;
      const p = JSON.parse(plot.dataset.plot), f = figures()[+plot.dataset.figure];
      return (state = {p, f, stops: p.names || p.x || p.rows ? stopsOf(f, p) : []});
    };
    const clear = () => {
      if (shape) shape.remove();
      shape = undefined;
      at = -1;
      out.textContent = '';
    };
    const mark = (name, attributes) => {
      if (shape) shape.remove();
      shape = document.createElementNS(SVG, name);
      shape.setAttribute('class', 'cursor');
      for (const [k, v] of Object.entries(attributes)) shape.setAttribute(k, v);
      svg.append(shape);
    };
    const show = (i) => {
      const {p, stops} = ready();
      if (!stops.length) {
        out.textContent = 'no known values';
        return;
      }
      at = Math.max(0, Math.min(stops.length - 1, i));
      const s = stops[at];
      if (s.box) mark('rect', {x: s.box[0], y: s.box[1], width: s.box[2], height: s.box[3]});
      else if (s.dot) mark('circle', {cx: s.x, cy: s.y, r: 9});
      else if (s.flip) mark('line', {x1: p.left, x2: p.right, y1: s.y, y2: s.y});
      else mark('line', {x1: s.x, x2: s.x, y1: p.top, y2: p.bottom});
      out.textContent = clean(s.text).slice(0, 3000);
    };
    const nearest = (x, y) => {
      const {stops} = ready();
      let best = -1, least = Infinity;
      stops.forEach((s, i) => {
        let far = s.flip ? Math.abs(s.y - y) : Math.abs(s.x - x);
        if (s.dot) far = Math.hypot(s.x - x, s.y - y);
        if (s.box) far = Math.max(0, s.box[0] - x, x - s.box[0] - s.box[2]) + 4 * Math.max(0, s.box[1] - y, y - s.box[1] - s.box[3]);
        if (far < least) [least, best] = [far, i];
      });
      return best;
    };
    plot.addEventListener('pointermove', (e) => {
      const r = svg.getBoundingClientRect(), scale = ready().p.w / r.width;
      const i = nearest((e.clientX - r.left) * scale, (e.clientY - r.top) * scale);
      if (i >= 0 && i !== at) show(i);
    });
    plot.addEventListener('pointerleave', () => { if (document.activeElement !== plot) clear(); });
    plot.addEventListener('blur', clear);
    plot.addEventListener('keydown', (e) => {
      const {p, f, stops} = ready();
      const row = f.kind === 'heat' ? p.names : 0, by = e.shiftKey ? 10 : 1;
      let next;
      switch (e.key) {
        case 'ArrowRight': next = at + by; break;
        case 'ArrowLeft': next = at < 0 ? stops.length - 1 : at - by; break;
        case 'ArrowDown': if (!row && !p.flip) return; next = at + (row || by); break;
        case 'ArrowUp': if (!row && !p.flip) return; next = at - (row || by); break;
        case 'Home': next = 0; break;
        case 'End': next = stops.length - 1; break;
        case 'Escape': clear(); return;
        default: return;
      }
      if (row && (next < 0 || next >= stops.length)) next = at;
      e.preventDefault();
      show(next);
    });
  }

  // Paper has no way to open what is closed.
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = [...document.querySelectorAll('details:not([open])')];
    for (const d of closed) d.open = true;
  });
  addEventListener('afterprint', () => {
    for (const d of closed) d.open = false;
  });
})();
