// Turns the knobs of a page of capcli report --live, and of capcli serve, in Chromium: the figures must
// be those of the command that the page shows, to the digit; nothing is loaded or said on the console;
// axe-core finds nothing. Usage: node live.mjs CAPCLI OUT CHROMIUM; it works in the current folder.
import {chromium} from 'playwright-core';
import {execFileSync, spawn} from 'node:child_process';
import {createRequire} from 'node:module';
import {mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [capcli, out, executablePath] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
mkdirSync(out, {recursive: true});
let checks = 0, faults = 0;
const check = (ok, what) => {
  checks++;
  if (ok) return;
  faults++;
  console.error('live-check: ' + what);
};
const env = {...process.env, PATH: path.dirname(capcli) + ':' + process.env.PATH};
const shell = (command) => execFileSync('sh', ['-c', command], {env, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe']});

// The figures of the page in the document of capcli simulate -o json.
const inDocument = {
  cost_per_year: (r) => r.cost.total_per_year_usd, cost: (r) => r.cost.total_usd, per_used_gpu_hour: (r) => r.cost.per_used_gpu_hour_usd,
  wait_p50: (r) => r.wait_p50_s, wait_p95: (r) => r.wait_p95_s, unserved_share: (r) => r.unserved_share,
  unserved_jobs: (r) => r.unserved_jobs.waiting + r.unserved_jobs.unplaceable + r.unserved_jobs.dropped,
  stranded_usd: (r) => r.cost.stranded_usd, allocation_rate: (r) => r.capacity.allocation_rate,
  on_demand: (r) => r.cost.by_tier.on_demand ?? 0, spot: (r) => r.cost.by_tier.spot ?? 0, preemptions: (r) => r.jobs.preemptions,
};

const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none']});

// open opens a page and watches it: only its own origin and its worker are asked for anything.
async function open(name, url, options = {}) {
  const context = await browser.newContext({viewport: {width: 1100, height: 900}, acceptDownloads: true, ...options});
  const page = await context.newPage();
  const own = new URL(url).origin;
  page.on('console', (m) => check(false, `${name}: console: ${m.text().slice(0, 300)}`));
  page.on('pageerror', (e) => check(false, `${name}: error: ${e.message.slice(0, 300)}`));
  page.on('request', (r) => check(r.url() === url || r.url().startsWith('blob:') || own !== 'null' && new URL(r.url()).origin === own, `${name}: asks for ${r.url().slice(0, 200)}`));
  await page.goto(url, {waitUntil: 'load'});
  return {page, context};
}

// turn gives knobs their values, as a reader does, and returns how long the answer took.
async function turn(page, changes) {
  const begun = Date.now();
  await page.evaluate(() => document.body.removeAttribute('data-live'));
  for (const [path, value] of changes) {
    const knob = page.locator(`[data-path="${path}"]`);
    if (await knob.evaluate((k) => k.tagName) === 'SELECT') await knob.selectOption(value);
    else await knob.fill(value);
  }
  await page.waitForFunction(() => document.body.dataset.live === 'done', null, {timeout: 120000});
  return Date.now() - begun;
}

const said = (page) => page.evaluate(() => ({
  status: document.getElementById('live-status').textContent, wrong: document.getElementById('live-status').className,
  command: document.getElementById('live-command').textContent,
  heads: [...document.querySelectorAll('#live-heads tbody tr')].map((r) => ({name: r.dataset.name, text: r.cells[2].textContent, value: r.cells[2].dataset.value})),
  pictures: [...document.querySelectorAll('.live-plot svg')].length,
}));

// agree checks that the page says what its command does.
async function agree(page, name, changes) {
  const took = await turn(page, changes);
  const {status, wrong, command, heads, pictures} = await said(page);
  check(wrong === '', `${name}: ${JSON.stringify(changes)}: ${status}`);
  check(pictures === 2, `${name}: ${pictures} pictures, want 2`);
  const run = JSON.parse(shell(command + ' -o json -q')).runs[0];
  for (const {name: metric, text, value} of heads) {
    const want = inDocument[metric](run);
    check(want === null || want === undefined ? value === '' || /over/.test(text) : Number(value) === Number(want), `${name}: ${metric} is ${value} (${text}), but ${command} gives ${want}`);
  }
  console.log(`live-check: ${name}: ${JSON.stringify(changes)} in ${took} ms, ${heads.length} figures equal those of ${command}`);
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
  for (const v of violations) check(false, `${name}: axe: ${v.id}: ${v.help}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160)).join(' | ')}`);
}

const turns = [
  [['capacity.base.gpus', '64']], [['capacity.base.gpus', '0'], ['policy', 'sjf']], [['capacity.base.gpus', '37'], ['overflow.patience', '2h'], ['policy', 'fair']],
  [['capacity.on-demand.max_gpus', '16'], ['capacity.base.price', '1.5']], [['overflow.patience', 'never'], ['capacity.base.price', '2.314207']],
];

{ // a page that is a file
  shell('capcli -q simulate default --out runs && capcli -q report runs/default --live --out live.html');
  for (const colorScheme of ['light', 'dark']) {
    const {page, context} = await open('live.html', pathToFileURL(path.resolve('live.html')).href, {colorScheme});
    for (const changes of colorScheme === 'light' ? turns : turns.slice(0, 1)) await agree(page, 'live.html', changes);
    // A slider moves its number, and a wrong number is said in words.
    const slider = page.locator('[data-for]').first();
    await slider.focus();
    await page.evaluate(() => document.body.removeAttribute('data-live'));
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.body.dataset.live === 'done');
    check(await slider.evaluate((s) => s.value === document.getElementById(s.dataset.for).value), 'live.html: the slider and its number differ');
    await turn(page, [['capacity.base.gpus', '-3']]);
    const wrong = await said(page);
    check(wrong.wrong === 'wrong' && wrong.status.includes('-3'), `live.html: -3 GPUs: "${wrong.status}"`);
    await page.evaluate(() => document.body.removeAttribute('data-live'));
    await page.locator('#live-form button[type=reset]').click();
    await page.waitForFunction(() => document.body.dataset.live === 'done');
    const back = await page.evaluate(() => [...document.querySelectorAll('#live-heads tbody tr')].every((r) => r.cells[1].textContent === r.cells[2].textContent && r.cells[3].textContent === ''));
    check(back, 'live.html: the reset does not bring the figures back');
    await agree(page, 'live.html', turns[0]);
    await accessible(page, `live.html (${colorScheme})`);
    await page.locator('#what-if').screenshot({path: path.join(out, `live-${colorScheme}.png`)});
    await context.close();
  }
  console.log(`live-check: live.html has ${(statSync('live.html').size / 1e6).toFixed(1)} MB`);
}

{ // more jobs than a page carries: the thinned jobs are saved, and the command plays them
  let text = 'job_id,tenant,gpus,submit,start,end\n', seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let i = 0, at = 1798761600; i < 50000; i++) {
    at += Math.floor(random() * 60);
    const run = Math.floor(60 * Math.exp(6 * random()));
    text += `${i},t${Math.floor(random() * 5)},${1 << Math.floor(random() * 4)},${at},${at},${at + run}\n`;
  }
  writeFileSync('many.csv', text);
  shell('capcli -q simulate --trace many.csv --out runs && capcli -q report runs/trace --live --out many.html');
  const {page, context} = await open('many.html', pathToFileURL(path.resolve('many.html')).href);
  check((await page.locator('#what-if .note').textContent()).includes('of 50,000 jobs'), 'many.html: nothing is said of thinned jobs');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#live-save').click()]);
  await download.saveAs(path.resolve(download.suggestedFilename()));
  await agree(page, 'many.html', [['policy', 'sjf']]);
  await agree(page, 'many.html', [['capacity.assumed.gpus', '300'], ['policy', 'easy']]);
  // A change is taken back while the engine plays it: what was there is there at once, and the engine answers again.
  const was = (await said(page)).heads;
  await page.locator('[data-path="policy"]').selectOption('fair');
  await page.waitForFunction(() => document.body.dataset.live === 'busy');
  const backed = await page.evaluate(() => { const begun = performance.now(); document.getElementById('live-back').click(); return performance.now() - begun; });
  await page.waitForFunction(() => document.body.dataset.live === 'done');
  check(JSON.stringify((await said(page)).heads) === JSON.stringify(was), 'many.html: the change that was taken back left something');
  console.log(`live-check: many.html: a run under way is taken back in ${backed.toFixed(0)} ms`);
  await agree(page, 'many.html', [['policy', 'sjf']]);
  await context.close();
}

{ // a page of the server
  const server = spawn(capcli, ['serve', 'runs/default', '--listen', '127.0.0.1:0'], {stdio: ['ignore', 'pipe', 'inherit']});
  try {
    const url = (await new Promise((resolve) => server.stdout.once('data', (b) => resolve(String(b))))).trim();
    const {page, context} = await open('serve', url);
    check(!page.url().includes('token'), `serve: the address still has the token: ${page.url()}`);
    for (const changes of turns) await agree(page, 'serve', changes);
    await accessible(page, 'serve');
    await page.screenshot({path: path.join(out, 'serve.png'), fullPage: true});
    await context.close();
  } finally {
    server.kill('SIGTERM');
  }
}

{ // a page of a decision: its figures, other numbers, and what takes them back, by mouse and by keys
  shell('capcli -q demo world && capcli -q decide --trace world/jobs.csv --gpu H100 --horizon 1y --budget 5M --backtest 0 --cache none --out decision');
  shell('capcli -q report decision/decision.json decision/purchases.json --live --out decision.html');
  const decision = JSON.parse(readFileSync('decision/decision.json', 'utf8'));
  const cell = (page, name) => page.evaluate((n) => Number(document.querySelector(`#live-heads tr[data-name="${n}"]`).cells[2].dataset.value ?? NaN), name);
  for (const [colorScheme, width] of [['light', 1100], ['dark', 360]]) {
    const {page, context} = await open('decision.html', pathToFileURL(path.resolve('decision.html')).href, {colorScheme, viewport: {width, height: 900}});
    await turn(page, [['commitment.gpus', '0']]);
    const took = [];
    for (const size of decision.cost_by_size.filter((s) => !s.plan && s.gpus)) { // it has been answered for no size yet
      await turn(page, [['commitment.gpus', String(size.gpus)]]);
      took.push(Number(await page.evaluate(() => document.body.dataset.liveMs)));
      const cost = await cell(page, 'cost');
      check(cost === Number(size.cost_usd), `decision.html: ${size.gpus} GPUs cost ${cost}, the decision says ${size.cost_usd}`);
    }
    took.sort((a, b) => a - b);
    await turn(page, [['demand.percent', '300']]);
    const grown = await cell(page, 'cost');
    const limits = await page.locator('#live-limits').textContent();
    check(/DOES NOT HOLD/.test(limits) && /holds in all/.test(limits), `decision.html: the limits are said as ${limits}`);
    await turn(page, [['on_demand.price', '9']]);
    await page.locator('[data-path="on_demand.price"]').blur();
    // Back at once: by the button, then by keys, then all of it.
    const backed = await page.evaluate(() => { const begun = performance.now(); document.getElementById('live-back').click(); return [performance.now() - begun, Number(document.querySelector('#live-heads tr[data-name="cost"]').cells[2].dataset.value)]; });
    check(backed[1] === grown, `decision.html: taken back, the cost is ${backed[1]}, was ${grown}`);
    await page.locator('[data-path="demand.percent"]').focus();
    await page.keyboard.press('Alt+Backspace');
    check(await page.locator('[data-path="demand.percent"]').inputValue() === '100', 'decision.html: the keys take nothing back');
    await page.evaluate(() => document.body.removeAttribute('data-live'));
    await page.locator('#live-form button[type=reset]').click();
    await page.waitForFunction(() => document.body.dataset.live === 'done');
    check(await cell(page, 'cost') === Number(decision.plan.cost_usd), 'decision.html: the reset does not bring the decision back');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= width, `decision.html: ${wide} px wide on a page of ${width}`);
    await accessible(page, `decision.html (${colorScheme})`);
    await page.locator('#what-if').screenshot({path: path.join(out, `decision-${colorScheme}.png`)});
    await context.close();
    console.log(`live-check: decision.html: ${took.length} sizes equal those of the decision; answered in ${took[took.length >> 1]} ms (median), at most ${took[took.length - 1]} ms; taken back in ${backed[0].toFixed(1)} ms`);
  }
  console.log(`live-check: decision.html has ${(statSync('decision.html').size / 1e6).toFixed(1)} MB`);
}

await browser.close();
console.log(`live-check: ${checks} checks, ${faults} faults`);
process.exit(faults ? 1 : 0);
