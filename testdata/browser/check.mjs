// Opens the pages of a folder in Chromium and checks what a reader relies on: that every chart is
// drawn and read by mouse and keys, that nothing is loaded, sent or run, that axe-core finds nothing,
// that it prints and fits a narrow screen. Usage: node check.mjs FOLDER OUT CHROMIUM
import {chromium} from 'playwright-core';
import {execFileSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {mkdirSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, out, executablePath] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
mkdirSync(out, {recursive: true});
const faults = [];
let checks = 0;
const check = (ok, what) => {
  checks++;
  if (!ok) {
    faults.push(what);
    console.error('browser-check: ' + what);
  }
};

const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none']});

// open opens a page and watches it: whatever it says on the console, asks for or opens is a fault.
async function open(name, options = {}) {
  const context = await browser.newContext({viewport: {width: 1100, height: 900}, ...options});
  const page = await context.newPage();
  const watch = {name, url: ''};
  page.on('console', (m) => check(false, `${watch.name}: console: ${m.text().slice(0, 300)}`));
  page.on('pageerror', (e) => check(false, `${watch.name}: error: ${e.message.slice(0, 300)}`));
  page.on('dialog', (d) => { check(false, `${watch.name}: a script ran: ${d.message()}`); d.dismiss(); });
  page.on('popup', () => check(false, `${watch.name}: a window opened`));
  page.on('request', (r) => { if (r.url() !== watch.url) check(false, `${watch.name}: asks for ${r.url().slice(0, 200)}`); });
  page.on('framenavigated', (f) => { if (f.url().split('#')[0] !== watch.url) check(false, `${watch.name}: goes to ${f.url().slice(0, 200)}`); });
  const show = async (next) => {
    watch.name = next;
    watch.url = pathToFileURL(path.join(folder, next)).href;
    await page.goto(watch.url, {waitUntil: 'load'});
  };
  await show(name);
  return {page, context, show};
}

// drawn returns what is wrong with the charts: nothing in them, texts that are cut or cover each other.
const drawn = () => [...document.querySelectorAll('.plot')].flatMap((plot) => {
  const faults = [], name = plot.closest('section').id, svg = plot.querySelector('svg');
  if (!svg) return [`${name}: no picture`];
  const whole = svg.getBoundingClientRect();
  if (whole.width < 300 || whole.height < 60) faults.push(`${name}: ${whole.width} x ${whole.height} pixels`);
  const shapes = [...svg.querySelectorAll('rect,circle,polygon,polyline')];
  const seen = shapes.filter((s) => { const b = s.getBoundingClientRect(); return b.width + b.height > 0; });
  if (seen.length < 3) faults.push(`${name}: ${seen.length} shapes`);
  for (const s of seen) {
    const b = s.getBoundingClientRect();
    if (b.left < whole.left - 2 || b.right > whole.right + 2 || b.top < whole.top - 2 || b.bottom > whole.bottom + 2) {
      faults.push(`${name}: a ${s.tagName} lies outside the picture`);
    }
  }
  const texts = [...svg.querySelectorAll('text')].map((t) => ({text: t.textContent, box: t.getBoundingClientRect()}));
  texts.forEach(({text, box}, i) => {
    if (box.left < whole.left - 1 || box.right > whole.right + 1 || box.top < whole.top - 3 || box.bottom > whole.bottom + 3) faults.push(`${name}: "${text.slice(0, 40)}" is cut`);
    for (const other of texts.slice(i + 1)) {
      const w = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const h = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (w > 1.5 && h > 4) faults.push(`${name}: "${text.slice(0, 40)}" covers "${other.text.slice(0, 40)}"`);
    }
  });
  return faults;
});

const documentOf = (page) => page.evaluate(() => JSON.parse(document.getElementById('paper').textContent));

// expected returns texts that a reading of the first or last place of a figure must hold, from the
// document itself.
function expected(f, last, text) {
  const pick = (list) => (last ? list[list.length - 1] : list[0]);
  const s = last ? f.series[f.series.length - 1] : f.series[0];
  switch (f.kind) {
    case 'heat': return [s.name, pick(f.x.names), text(f.y.unit, pick(s.y))];
    case 'spans': return [s.name, text(f.x.unit, pick(s.lo))];
    case 'tornado': return [pick(f.x.names), text(f.y.unit, pick(s.lo)), text(f.y.unit, pick(s.hi))];
    case 'points': {
      const all = f.series.flatMap((one) => one.x.map((x, i) => ({x, y: one.y[i]}))).filter((p) => p.x !== null && p.y !== null);
      const x = (last ? Math.max : Math.min)(...all.map((p) => p.x));
      return [text(f.x.unit, x), text(f.y.unit, all.find((p) => p.x === x).y)];
    }
  }
  if (f.x.names && f.x.names.length) return [pick(f.x.names), ...f.series.map((one) => text(f.y.unit, pick(one.y)))];
  const xs = f.series.flatMap((one) => one.x).filter((x) => x !== null);
  const x = xs.reduce((a, b) => (last ? Math.max(a, b) : Math.min(a, b)));
  return [text(f.x.unit, x), ...f.series.filter((one) => one.x.includes(x)).map((one) => text(f.y.unit, one.y[one.x.indexOf(x)]))];
}

async function reads(page, name) {
  const paper = await documentOf(page);
  const plots = await page.$$('.plot');
  check(plots.length === paper.figures.length, `${name}: ${plots.length} charts of ${paper.figures.length} figures`);
  for (const [i, plot] of plots.entries()) {
    const f = paper.figures[i];
    const reading = () => plot.evaluate((p) => p.parentElement.querySelector('.reading').textContent);
    check(await plot.evaluate((p) => !p.querySelector('.cursor')), `${name}: ${f.id}: a cursor before anybody pointed`);
    await plot.scrollIntoViewIfNeeded();
    await plot.focus();
    for (const [key, last] of [['Home', false], ['End', true]]) {
      await page.keyboard.press(key);
      const said = await reading(), values = [], names = expected(f, last, (unit, value) => { values.push([unit, value]); return ''; });
      const texts = names.concat(await page.evaluate((vs) => vs.map(([u, v]) => window.capcli.text(u, v)), values));
      for (const t of texts) check(said.includes(t), `${name}: ${f.id}: ${key} reads "${said.slice(0, 200)}", want ${t}`);
    }
    await page.keyboard.press('Home');
    const first = await reading();
    const single = f.kind === 'spans' ? f.series.reduce((n, one) => n + one.lo.length, 0) < 2 : f.kind !== 'points' && (f.x.names || f.series[0].x || []).length < 2;
    await page.keyboard.press('ArrowRight');
    const second = await reading();
    await page.keyboard.press('ArrowLeft');
    check(second !== '' && (second !== first || single) && (await reading()) === first, `${name}: ${f.id}: arrows read "${first}" and "${second}"`);
    await page.keyboard.press('Escape');
    check((await reading()) === '', `${name}: ${f.id}: Escape leaves "${await reading()}"`);
    await plot.evaluate((p) => p.blur());
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
    const pointed = await reading();
    check(pointed !== '' && pointed.includes(': '), `${name}: ${f.id}: the mouse reads "${pointed}"`);
    check(await plot.evaluate((p) => !!p.querySelector('.cursor')), `${name}: ${f.id}: the mouse shows no cursor`);
    await page.mouse.move(1, 1);
    check((await reading()) === '', `${name}: ${f.id}: a reading stays when the mouse has left`);
  }
}

async function mouseValues(page, name) {
  // The mouse over the place of a value reads that value: places are found in the drawing, values in the document.
  const paper = await documentOf(page);
  for (const [i, f] of paper.figures.entries()) {
    if (f.kind !== 'points' && f.kind !== 'heat') continue;
    const marks = f.kind === 'heat' ? 'rect' : 'circle';
    const spots = await page.evaluate(([i, marks]) => [...document.querySelectorAll('.plot')[i].querySelectorAll(marks)].filter((m) => m.querySelector('title'))
      .map((m) => ({title: m.querySelector('title').textContent})), [i, marks]);
    const plot = (await page.$$('.plot'))[i];
    await plot.scrollIntoViewIfNeeded();
    for (const k of [0, Math.floor(spots.length / 2), spots.length - 1]) {
      const box = await plot.evaluate((p, [marks, k]) => {
        const b = [...p.querySelectorAll(marks)].filter((m) => m.querySelector('title'))[k].getBoundingClientRect();
        return {x: b.x + b.width / 2, y: b.y + b.height / 2};
      }, [marks, k]);
      await page.mouse.move(box.x, box.y);
      const said = await plot.evaluate((p) => p.parentElement.querySelector('.reading').textContent);
      const value = spots[k].title.split(': ').pop().split(' ').pop().replace(/[()]/g, '');
      check(said.includes(value), `${name}: ${f.id}: the mouse on "${spots[k].title}" reads "${said}"`);
    }
  }
  await page.mouse.move(1, 1);
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
  for (const v of violations) check(false, `${name}: axe: ${v.id}: ${v.help}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message || '')).join(' | ')}`);
  checks++;
}

async function prints(page, name) {
  const file = path.join(out, name.replace('.html', '.pdf'));
  const pdf = await page.pdf({path: file, format: 'A4', preferCSSPageSize: true});
  const pages = (pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) || []).length;
  check(pages >= 2 && pages <= 60, `${name}: prints on ${pages} pages`);
  let text;
  try {
    text = execFileSync('pdftotext', ['-layout', file, '-'], {encoding: 'utf8', maxBuffer: 1 << 26}).split('\f');
  } catch {
    console.log(`browser-check: there is no pdftotext: where ${name} breaks is not checked`);
    return pages;
  }
  await page.emulateMedia({media: 'print'});
  await page.setViewportSize({width: 680, height: 900}); // the text of an A4 page with these margins
  const wide = await page.evaluate(() => [...document.querySelectorAll('main table')].filter((t) => t.getBoundingClientRect().right > document.querySelector('main').getBoundingClientRect().right + 2)
    .map((t) => t.parentElement.getAttribute('aria-label') + ' ' + Math.round(t.getBoundingClientRect().width)));
  check(wide.length === 0, `${name}: wider than the paper: ${wide.join('; ')}`);
  await page.emulateMedia({media: 'screen'});
  const paper = await documentOf(page);
  const squeeze = (s) => s.replace(/[\s\u00ad-]+/g, '').toLowerCase();
  const leaves = text.map(squeeze);
  for (const f of paper.figures) {
    const svgText = await page.evaluate((id) => [...document.querySelectorAll(`#figure-${id} svg text`)].map((t) => t.textContent).filter((t) => t.length > 2).slice(0, 6), f.id);
    const together = leaves.some((leaf) => leaf.includes(squeeze(f.title)) && svgText.filter((t) => leaf.includes(squeeze(t))).length >= Math.min(2, svgText.length));
    check(together, `${name}: the heading "${f.title}" is parted from its chart`);
  }
  return pages;
}

const begin = Date.now();
const step = (what) => console.log(`browser-check: ${what} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);

// Any other pages of the folder, such as those of capcli report, are read, too.
const others = readdirSync(folder).filter((n) => n.endsWith('.html') && !n.startsWith('attack-') && n !== 'large.html').sort();
for (const name of others) {
  const {page, context} = await open(name);
  for (const fault of await page.evaluate(drawn)) check(false, `${name}: ${fault}`);
  await page.screenshot({path: path.join(out, name.replace('.html', '-light.png')), fullPage: true});
  await reads(page, name);
  await mouseValues(page, name);
  for (const d of await page.$$('summary')) await d.click();
  await accessible(page, name);
  const pages = await prints(page, name);
  await context.close();

  const dark = await open(name, {colorScheme: 'dark'});
  await dark.page.screenshot({path: path.join(out, name.replace('.html', '-dark.png')), fullPage: true});
  await accessible(dark.page, name + ' (dark)');
  await dark.context.close();

  const narrow = await open(name, {viewport: {width: 420, height: 800}, deviceScaleFactor: 1});
  const wide = await narrow.page.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= 420, `${name}: ${wide} pixels wide on a screen of 420`);
  const small = await narrow.page.evaluate(() => Math.min(...[...document.querySelectorAll('.plot svg text')].map((t) => t.getBoundingClientRect().height)));
  check(small >= 8, `${name}: texts of ${small} pixels on a screen of 420`);
  await accessible(narrow.page, name + ' (narrow)');
  await narrow.page.screenshot({path: path.join(out, name.replace('.html', '-narrow.png')), fullPage: true});
  await narrow.context.close();
  step(`${name}: drawn, read, printed on ${pages} pages`);
}

{ // The script gives values the same words as the tables do.
  const {page, context} = await open('whole.html');
  const wordings = JSON.parse(readFileSync(path.join(folder, 'wordings.json'), 'utf8'));
  const got = await page.evaluate((ws) => ws.map((w) => window.capcli.text(w.unit, w.value)), wordings);
  wordings.forEach((w, i) => check(got[i] === w.text, `${w.value} ${w.unit} is "${got[i]}", want "${w.text}"`));
  await context.close();
}

{ // A script that gets into the page does not run.
  const {page, context} = await open('whole.html');
  page.removeAllListeners('console');
  await page.evaluate(() => {
    window.ran = false;
    const s = document.createElement('script');
    s.textContent = 'window.ran = true';
    document.body.append(s);
    const i = document.createElement('div');
    i.innerHTML = '<img src="data:," onerror="window.ran = true">';
    document.body.append(i);
  });
  await page.waitForTimeout(50);
  check(!(await page.evaluate(() => window.ran)), 'a script that got into the page ran');
  await context.close();
}

{
  const started = Date.now();
  const {page, context} = await open('large.html');
  const loaded = Date.now() - started;
  const shown = await page.evaluate(() => Math.round(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd));
  const answer = await page.evaluate(() => {
    const plot = document.querySelector('#figure-jobs .plot'), at = performance.now();
    plot.focus();
    plot.dispatchEvent(new KeyboardEvent('keydown', {key: 'Home', bubbles: true}));
    return {ms: performance.now() - at, text: plot.parentElement.querySelector('.reading').textContent};
  });
  check(loaded < 3000 && answer.ms < 1000 && answer.text !== '', `large.html: loaded in ${loaded} ms, read in ${answer.ms} ms`);
  step(`large.html: shown in ${shown} ms, loaded in ${loaded} ms, first value read in ${Math.round(answer.ms)} ms`);
  await context.close();
}

const attacks = readdirSync(folder).filter((n) => n.startsWith('attack-')).sort();
check(attacks.length >= 60, `${attacks.length} pages of attacks`);
const {page, context, show} = await open(attacks[0]);
for (const name of attacks) {
  await show(name);
  const state = await page.evaluate(() => {
    for (const plot of document.querySelectorAll('.plot')) {
      plot.focus();
      for (const key of ['Home', 'ArrowRight', 'End']) plot.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    }
    return {
      odd: document.querySelectorAll('main iframe,main object,main embed,main script,main base,main form,main video,main link,main meta,main img,main [onerror],main [onload],main [onfocus],main [onmouseover],main [style],svg script').length,
      links: [...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href').startsWith('#')).length,
      charts: document.querySelectorAll('.plot svg').length,
      title: document.querySelector('h1').textContent.length, wide: document.documentElement.scrollWidth,
    };
  });
  check(state.odd === 0 && state.links === 0, `${name}: a name became markup`);
  check(state.charts >= 8 && state.title > 0, `${name}: ${state.charts} charts, a title of ${state.title}`);
  check(state.wide <= 1100, `${name}: ${state.wide} pixels wide`);
  if (['attack-56', 'attack-62'].includes(name.slice(0, 9))) await page.screenshot({path: path.join(out, name.replace('.html', '.png'))});
}
await context.close();
step(`${attacks.length} pages of attacks`);

await browser.close();
if (faults.length) {
  console.error(`browser-check: ${faults.length} faults in ${checks} checks`);
  process.exit(1);
}
console.log(`browser-check: ${checks} checks held, ${((Date.now() - begin) / 1000).toFixed(1)} s; screenshots in ${out}`);
